# Writes a C++ file that has the texts of the report's page in it: cmake -DOUT=... -DD3=... -DLICENCE=... -DPAGE=...
# -DSCRIPTS=a.js,b.js -P embed.cmake
file(READ ${D3} d3)
file(READ ${LICENCE} licence)
file(READ ${PAGE}/page.html html)
file(READ ${PAGE}/style.css style)
string(REPLACE "," ";" scripts "${SCRIPTS}")
set(script "")
foreach(name ${scripts})
  file(READ ${PAGE}/${name} text)
  string(APPEND script "${text}")
endforeach()
# A literal each: what stands between the two marks is taken as it is.
set(content "#include \"report/page.hpp\"\nnamespace ztp {\n")
foreach(name d3 licence html style script)
  string(APPEND content "const std::string_view page_${name} = R\"~~~(${${name}})~~~\";\n")
endforeach()
file(WRITE ${OUT} "${content}}  // namespace ztp\n")
