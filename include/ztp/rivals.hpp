// The paper's rivals, for comparisons: fits with the options model = logistic, quad and pwquad. They are a library of
// their own, ztp::rivals; to use them, link it beside ztp::ztp.
#pragma once

namespace ztp {

// Makes the models known to fit, resume and check. Call it once, before them.
void add_rivals();

}  // namespace ztp
