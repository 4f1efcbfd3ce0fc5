#!/usr/bin/env python3
"""The drawings of README.md, docs/model.md and docs/architecture.md: plain SVG, the same bytes every time.

usage: plot_pictures.py IMAGES        e.g. plot_pictures.py docs/images
"""
import html
import math
import pathlib
import random
import sys

INK, SOFT, LINE, BLUE, RED, PALE, GREY = "#222222", "#666666", "#555555", "#0b5394", "#c23b22", "#eef3f8", "#d5dbe1"


class Picture:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      'font-family="Helvetica, Arial, sans-serif">',
                      '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                      f'orient="auto-start-reverse"><path d="M0 0.5L8 4L0 7.5z" fill="{LINE}"/></marker></defs>',
                      f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def add(self, tag, **attributes):
        words = " ".join(f'{name.replace("_", "-")}="{self.number(value)}"' for name, value in attributes.items())
        self.parts.append(f"<{tag} {words}/>")

    @staticmethod
    def number(value):
        return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else value

    def text(self, x, y, words, size=13, color=INK, anchor="start", style="", raised=""):
        """`raised` is written after the words, small and above the line."""
        style = f'font-size="{size * 0.7:.0f}" dy="-{size * 0.35:.1f}"'
        more = f"<tspan {style}>{html.escape(raised)}</tspan>" if raised else ""
        self.parts.append(f'<text x="{self.number(x)}" y="{self.number(y)}" font-size="{size}" fill="{color}" '
                          f'text-anchor="{anchor}"{style and " " + style}>{html.escape(words)}{more}</text>')

    def line(self, x1, y1, x2, y2, color=LINE, width=1.2, arrow=False, dash=""):
        more = {"marker_end": "url(#tip)"} if arrow else {}
        if dash:
            more["stroke_dasharray"] = dash
        ends = {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)}
        self.add("line", **ends, stroke=color, stroke_width=width, **more)

    def path(self, d, color=LINE, width=1.2, arrow=False, dash="", fill="none"):
        more = {"marker_end": "url(#tip)"} if arrow else {}
        if dash:
            more["stroke_dasharray"] = dash
        self.add("path", d=d, stroke=color, stroke_width=width, fill=fill, **more)

    def dot(self, x, y, radius, fill=BLUE, stroke="none"):
        self.add("circle", cx=float(x), cy=float(y), r=radius, fill=fill, stroke=stroke)

    def box(self, x, y, width, height, fill=PALE, stroke="none", radius=6, dash=""):
        more = {"stroke_dasharray": dash} if dash else {}
        self.add("rect", x=float(x), y=float(y), width=float(width), height=float(height), rx=radius, fill=fill,
                 stroke=stroke, **more)

    def lines(self, x, y, words, size=12, color=INK, anchor="middle", step=16):
        for i, one in enumerate(words):
            self.text(x, y + i * step, one, size, color, anchor)

    def cylinder(self, x, y, width, height, words, size=12):
        """A file or folder; x, y is its upper left corner."""
        r = 6
        side = height - 2 * r
        self.path(f"M{x} {y + r}v{side}a{width / 2:.0f} {r} 0 0 0 {width} 0v-{side}", LINE, 1.2, fill="#fff8e6")
        ellipse = {"cx": x + width / 2, "cy": float(y + r), "rx": width / 2, "ry": r}
        self.add("ellipse", **ellipse, fill="#fff8e6", stroke=LINE, stroke_width=1.2)
        self.lines(x + width / 2, y + height / 2 + 8 - 8 * (len(words) - 1), words, size)

    def save(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n")


# ---- the decomposition -----------------------------------------------------------------------------------------------


def cube(picture, x, y, side, depth):
    """A wire cube with dots: the ones. Two clusters, as two components would make, and a few strays."""
    for dx, dy in ((0, 0), (depth, -depth * 0.6)):
        picture.path(f"M{x + dx} {y + dy:.0f}h{side}v{side}h-{side}z", GREY, 1.2)
    for cx, cy in ((x, y), (x + side, y), (x, y + side), (x + side, y + side)):
        picture.line(cx, cy, cx + depth, cy - depth * 0.6, GREY)
    draw = random.Random(3)
    place = lambda a, b, c: (x + b * side + c * depth, y + a * side - c * depth * 0.6)  # noqa: E731
    for (low, high), color, count in (((0.06, 0.46), BLUE, 22), ((0.54, 0.94), RED, 18)):
        for _ in range(count):
            picture.dot(*place(*(draw.uniform(low, high) for _ in range(3))), 2.8, color)
    for _ in range(4):
        picture.dot(*place(*(draw.uniform(0.05, 0.95) for _ in range(3))), 2.8, SOFT)


def network(picture, x, y, side):
    """A few entities of the first mode, and edges between them."""
    places = [(x - 13 * (i % 2), y + side * (i + 0.5) / 6) for i in range(6)]
    for a, b in ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)):
        picture.line(*places[a], *places[b], SOFT, 1)
    for i, (cx, cy) in enumerate(places):
        picture.dot(cx, cy, 3.2, BLUE if i < 3 else RED)


def strip(picture, x, y, shades, color, dx, dy, points):
    """A column u as a strip of cells, darker where an entity has more of the component."""
    for i, shade in enumerate(shades):
        cx, cy = x + i * dx, y + i * dy
        corners = " ".join(f"{cx + px:.1f},{cy + py:.1f}" for px, py in points)
        picture.add("polygon", points=corners, fill=color, fill_opacity=shade, stroke=color, stroke_width=0.8)


def component(picture, x, y, number, color, high):
    """lambda_r and the three columns of a component; `high` says which half of the entities it is of."""
    big, small = [0.95, 0.7, 0.85], [0.05, 0.12, 0.05]
    shades = small + big if high else big + small
    picture.text(x - 14, y + 30, "λ", 20, anchor="end", style='font-style="italic"')
    picture.text(x - 14, y + 36, number, 12)
    strip(picture, x + 8, y, shades, color, 0, 15, ((0, 0), (15, 0), (15, 15), (0, 15)))
    strip(picture, x + 30, y, shades, color, 15, 0, ((0, 0), (15, 0), (15, 15), (0, 15)))
    strip(picture, x + 10, y - 8, shades[:4], color, 11, -7, ((0, 0), (11, -7), (22, -7), (11, 0)))
    picture.text(x + 10, y + 108, "u", 13, color, style='font-style="italic"', raised="(1)")
    picture.text(x + 106, y + 32, "u", 13, color, style='font-style="italic"', raised="(2)")
    picture.text(x + 72, y - 30, "u", 13, color, style='font-style="italic"', raised="(3)")


def curve(picture, x, y, width, height):
    """P = 1 - exp(-z), and what an interval of z makes of P."""
    top = 3.0
    at = lambda z: (x + z / top * width, y + height * math.exp(-z))  # noqa: E731
    picture.line(x, y + height, x + width + 8, y + height, LINE, 1.2, arrow=True)
    picture.line(x, y + height, x, y - 10, LINE, 1.2, arrow=True)
    picture.line(x, y, x + width, y, GREY, 1, dash="3 3")
    low, mean, high = 0.5, 0.9, 1.4
    (x1, y1), (x2, y2) = at(low), at(high)
    picture.path(f"M{x1:.1f} {y + height}V{y1:.1f}H{x}V{y2:.1f}H{x2:.1f}V{y + height}z", "none", 0, fill="#dbe8f4")
    picture.path("M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in (at(top * i / 60) for i in range(61))), BLUE, 2)
    px, py = at(mean)
    picture.line(px, y + height, px, py, BLUE, 1, dash="3 2")
    picture.line(px, py, x, py, BLUE, 1, dash="3 2")
    picture.dot(px, py, 4)
    picture.text(x - 6, y + 5, "1", 12, anchor="end")
    picture.text(x - 6, y + height + 4, "0", 12, anchor="end")
    picture.text(x - 6, (y1 + y2) / 2 + 4, "P", 14, BLUE, "end")
    picture.text((x1 + x2) / 2, y + height + 18, "z", 14, BLUE, "middle", 'font-style="italic"')


def decomposition(path):
    picture = Picture(960, 250)
    cube(picture, 66, 78, 110, 62)
    network(picture, 44, 78, 110)
    picture.text(20, 24, "a tensor of ones", 14)
    picture.text(66, 210, "only the ones are stored;", 13)
    picture.text(66, 228, "a network of a mode may help", 13, SOFT)
    picture.text(268, 130, "≈", 28)
    component(picture, 336, 84, "1", BLUE, False)
    picture.text(476, 130, "+", 24)
    component(picture, 530, 84, "2", RED, True)
    picture.text(668, 130, "+ …", 20)
    picture.text(314, 24, "components: a weight λ and, in each mode, a distribution u", 14)
    picture.text(314, 220, "rate of a cell: z = sum over the components of λ u u u", 13)
    picture.line(722, 122, 750, 122, LINE, 1.6, arrow=True)
    curve(picture, 792, 62, 140, 116)
    picture.text(866, 220, "P = 1 − exp(−z),", 13, anchor="middle")
    picture.text(866, 238, "with an interval", 13, SOFT, "middle")
    picture.save(path)


# ---- the model as a graph --------------------------------------------------------------------------------------------


def node(picture, x, y, name, sub="", up="", fill="#ffffff", dash="", radius=23):
    more = {"stroke_dasharray": dash} if dash else {}
    picture.add("circle", cx=float(x), cy=float(y), r=radius, fill=fill, stroke=INK, stroke_width=1.4, **more)
    label(picture, x, y + 5, name, sub, up)


def label(picture, x, y, name, sub="", up="", size=16):
    small = size * 0.68
    parts = html.escape(name)
    if up:
        parts += f'<tspan font-size="{small:.0f}" dy="-6">{html.escape(up)}</tspan>'
    if sub:
        parts += f'<tspan font-size="{small:.0f}" dy="{10 if up else 4}">{html.escape(sub)}</tspan>'
    picture.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" fill="{INK}" text-anchor="middle" '
                         f'font-style="italic">{parts}</text>')


def between(picture, a, b, radius=24, end=25, dash=""):
    """An arrow from the rim of one node to that of another."""
    (x1, y1), (x2, y2) = a, b
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    picture.line(x1 + ux * radius, y1 + uy * radius, x2 - ux * end, y2 - uy * end, LINE, 1.3, arrow=True, dash=dash)


def plate(picture, x, y, width, height, words, right=True):
    picture.box(x, y, width, height, "none", SOFT, 10)
    picture.text(x + width - 10 if right else x + 10, y + height - 9, words, 12, SOFT, "end" if right else "start")


def plates(path):
    picture = Picture(960, 490)
    p, lam, u, a, g = (150, 120), (260, 120), (260, 250), (50, 250), (200, 40)
    h, beta, f = (150, 380), (260, 380), (200, 464)
    y_ir, y_i, b = (440, 120), (570, 120), (690, 120)
    x_ij, a_ij = (440, 380), (620, 380)
    plate(picture, 104, 78, 212, 350, "components r", right=False)
    plate(picture, 14, 206, 294, 92, "modes k", right=False)
    plate(picture, 390, 70, 354, 108, "cells i")
    plate(picture, 404, 82, 72, 86, "r")
    plate(picture, 390, 334, 290, 100, "pairs i < j of a mode")
    for start, end in ((p, lam), (a, u), (lam, y_ir), (u, y_ir), (y_ir, y_i), (y_i, b), (h, beta), (beta, x_ij),
                       (u, x_ij), (x_ij, a_ij)):
        between(picture, start, end)
    between(picture, g, lam, 16)
    between(picture, f, beta, 16)
    node(picture, *p, "p", "r")
    node(picture, *lam, "λ", "r")
    node(picture, *u, "u", "r", "(k)")
    node(picture, *h, "h", "r")
    node(picture, *beta, "β", "r")
    node(picture, *y_ir, "y", "ir")
    node(picture, *y_i, "y", "i")
    node(picture, *b, "b", "i", fill=GREY)
    node(picture, *x_ij, "X", "ij")
    node(picture, *a_ij, "A", "ij", fill=GREY)
    node(picture, *a, "a", "k", dash="2 3")
    node(picture, *g, "g", dash="2 3", radius=15)
    node(picture, *f, "f", dash="2 3", radius=15)
    node(picture, 826, 120, "b", "i", dash="7 4")
    for x, y in ((350, 110), (350, 370)):
        picture.text(x, y, "Poisson", 12, SOFT, "middle")
    picture.text(508, 110, "sum", 12, SOFT, "middle")
    picture.text(630, 110, "≥ 1 ?", 12, SOFT, "middle")
    picture.text(530, 370, "≥ 1 ?", 12, SOFT, "middle")
    picture.text(826, 172, "not observed:", 12, SOFT, "middle")
    picture.text(826, 188, "y is imputed (M17)", 12, SOFT, "middle")
    picture.text(20, 32, "tensor", 15, BLUE)
    picture.text(20, 470, "network", 15, BLUE)
    for i, (fill, dash, words) in enumerate(((GREY, "", "observed"), ("#ffffff", "", "drawn in every sweep"),
                                             ("#ffffff", "7 4", "missing: imputed"),
                                             ("#ffffff", "2 3", "fixed, or drawn with --learn"))):
        node(picture, 724, 262 + 30 * i, "", fill=fill, dash=dash, radius=10)
        picture.text(744, 267 + 30 * i, words, 13)
    picture.save(path)


# ---- a sweep ---------------------------------------------------------------------------------------------------------


def step(picture, x, y, width, title, lines, fill=PALE, stroke=BLUE, dash=""):
    picture.box(x, y, width, 28 + 17 * len(lines), fill, stroke, 8, dash)
    picture.text(x + 12, y + 20, title, 13, INK, style='font-weight="bold"')
    for i, words in enumerate(lines):
        picture.text(x + 12, y + 38 + 17 * i, words, 12, SOFT)


def sweep(path):
    picture = Picture(960, 440)
    picture.text(20, 28, "batch: a sweep over all ones", 15, BLUE)
    step(picture, 20, 50, 246, "hyperparameters (--learn)", ["a, g, f given S: (M20), (M21)", "O(R N)"], dash="2 3")
    step(picture, 20, 150, 246, "columns u", ["given S: (M5)", "O(R N)"])
    step(picture, 20, 250, 246, "weights", ["p λ h β: (M6) (M7) (M13) (M14)", "O(R); then: is all finite?"])
    step(picture, 330, 250, 280, "counts of the ones", ["y and its parts: (M3), (M4), (M24)", "O(ones R K)"])
    step(picture, 330, 150, 280, "counts of missing cells, networks", ["(M17), (M18); (M11), (M12)",
                                                                          "O(listed R K + R N + edges R)"])
    step(picture, 330, 50, 280, "collapsed moves", ["tokens: (M22); split, merge: (M23)", "O(counts R K), serial"],
         dash="7 4")
    for x, y1, y2 in ((143, 112, 149), (143, 212, 249), (470, 249, 213), (470, 149, 113)):
        picture.line(x, y1, x, y2, LINE, 1.5, arrow=True)
    picture.line(266, 280, 329, 280, LINE, 1.5, arrow=True)
    picture.line(330, 80, 267, 80, LINE, 1.5, arrow=True)
    picture.text(298, 70, "S, s", 14, RED, "middle", 'font-style="italic"')
    picture.lines(20, 340, ["From sweep to sweep, and into a checkpoint, go the statistics: S, latent counts",
                            "by row and component, and s, their totals. Kept draws are of u, p, λ, h, β."],
                 12, SOFT, "start")
    picture.line(630, 20, 630, 376, GREY, 1.2)
    picture.text(650, 28, "online: a step, one minibatch", 15, BLUE)
    step(picture, 672, 50, 272, "parameters", ["from s: drawn, averaged or means (M28);", "of touched rows only (M27)",
                                               "O(minibatch R K), or O(R N)"])
    step(picture, 672, 170, 272, "counts of the minibatch", ["drawn, or expectations (M26)", "O(minibatch R K)"])
    step(picture, 672, 270, 272, "statistics move part of the way",
         ["s ← (1 − ρ) s + ρ · counts, scaled up", "ρ falls with t: (M25)"])
    picture.line(808, 130, 808, 169, LINE, 1.5, arrow=True)
    picture.line(808, 232, 808, 269, LINE, 1.5, arrow=True)
    picture.path("M672 300H652V90H670", LINE, 1.5, arrow=True)
    picture.lines(808, 350, ["An approximation: s averages over", "many states."], 12, SOFT)
    sizes = ("N: entities of all modes; listed: missing cells of the list; "
             "counts: the latent counts of all ones together")
    picture.text(20, 404, sizes, 12, SOFT)
    lines = "dotted: with --learn; dashed: with --sampler collapsed, the default for up to 50,000 ones"
    picture.text(20, 424, lines, 12, SOFT)
    picture.save(path)


# ---- the flow of data ------------------------------------------------------------------------------------------------


def layer(picture, x, y, width, name, words, height=62):
    picture.box(x, y, width, height, PALE, BLUE, 8)
    picture.text(x + width / 2, y + 22, name, 14, BLUE, "middle", 'font-weight="bold"')
    picture.lines(x + width / 2, y + 39, words, 11, SOFT, step=14)


def flow(path):
    picture = Picture(960, 430)
    arrow = lambda x1, y1, x2, y2: picture.line(x1, y1, x2, y2, LINE, 1.5, arrow=True)  # noqa: E731
    picture.text(20, 26, "ones in memory", 14, SOFT)
    picture.cylinder(20, 44, 92, 66, ["text", ".tsv .tns .mtx"], 12)
    layer(picture, 146, 46, 104, "io", ["parse, labels,", "missing, splits"])
    layer(picture, 284, 46, 104, "tensor", ["sorted ones,", "networks"])
    layer(picture, 422, 46, 120, "sampler", ["Chain: sweeps;", "baselines: rivals"])
    layer(picture, 422, 176, 120, "kernel", ["counts, columns,", "scores; threads"])
    picture.line(482, 110, 482, 174, LINE, 1.5, arrow=True)
    picture.parts[-1] = picture.parts[-1].replace("/>", ' marker-start="url(#tip)"/>')
    layer(picture, 576, 176, 112, "run", ["fit, resume,", "update, check"])
    layer(picture, 576, 46, 112, "store", ["draws, trace,", "checkpoints"])
    picture.cylinder(722, 36, 92, 82, ["run", "directory"], 13)
    layer(picture, 722, 176, 100, "posterior", ["reads the run", "alone"])
    picture.lines(862, 173, ["predict", "evaluate", "components", "recommend", "diagnose"], 13, INK, "start", 19)
    for x1, x2 in ((112, 145), (250, 283), (388, 421)):
        arrow(x1, 78, x2, 78)
    arrow(542, 78, 575, 78)
    arrow(688, 78, 721, 78)
    arrow(768, 118, 768, 175)
    arrow(822, 207, 854, 207)
    picture.line(632, 176, 632, 110, LINE, 1.5, arrow=True)
    arrow(576, 190, 534, 112)
    picture.text(20, 274, "ones on disk", 14, SOFT)
    picture.cylinder(20, 292, 92, 66, ["text"], 12)
    layer(picture, 146, 294, 104, "io", ["convert: shuffle,", "merge, check"])
    picture.cylinder(284, 292, 104, 66, ["tensor file", ".ztpt"], 12)
    layer(picture, 422, 294, 120, "run", ["Minibatches, read", "ahead by chunks"])
    layer(picture, 576, 294, 112, "sampler", ["OnlineChain:", "steps"])
    arrow(112, 326, 145, 326)
    arrow(250, 326, 283, 326)
    arrow(388, 326, 421, 326)
    arrow(542, 326, 575, 326)
    picture.path("M688 326H768V300", LINE, 1.5, dash="4 3")
    picture.text(776, 312, "the same kernel, store", 12, SOFT)
    picture.text(776, 328, "and run directory", 12, SOFT)
    picture.text(20, 396, "Layers, each of which may include only those before it:", 12, SOFT)
    layers = "base options tensor io model kernel store sampler run posterior simulate report baselines"
    picture.text(20, 416, layers.replace(" ", "  "), 13, BLUE)
    picture.cylinder(700, 384, 22, 30, [""])
    picture.text(730, 404, "file", 12, SOFT)
    picture.box(780, 388, 26, 22, PALE, BLUE, 5)
    picture.text(814, 404, "layer", 12, SOFT)
    picture.save(path)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    images = pathlib.Path(sys.argv[1])
    for draw in (decomposition, plates, sweep, flow):
        draw(images / f"{draw.__name__}.svg")


main()
