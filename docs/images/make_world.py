"""Draws docs/images/world.svg from a fitted world run.

    python3 docs/images/make_world.py ZTP RUN >docs/images/world.svg
"""
import html
import json
import subprocess
import sys

ztp, run = sys.argv[1:3]
command = [ztp, "components", run, "--top", "200", "--json"]
shown = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
periods = [line.strip() for line in open(f"{run}/labels/period.txt", encoding="utf-8")]
shown = [c for c in shown if c["top"]["organisation"][0]["value"] < 0.9][:6]  # components of more than one organisation

width, height, card_w, card_h = 960, 520, 300, 230
out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    'font-family="Helvetica, Arial, sans-serif">',
    f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    '<text x="20" y="30" font-size="17" fill="#222">Six of 25 components of who was a member of what, and when</text>',
]
for i, component in enumerate(shown):
    x, y = 20 + (i % 3) * (card_w + 10), 45 + (i // 3) * (card_h + 5)
    out.append(f'<g transform="translate({x},{y})">'
               f'<rect width="{card_w}" height="{card_h - 5}" rx="6" fill="#f4f6f8"/>')
    out.append(f'<text x="12" y="22" font-size="13" fill="#0b5394">{100 * component["share"]:.1f} % of the ones</text>')
    for mode, column in (("organisation", 12), ("country", 165)):
        for row, item in enumerate(component["top"][mode][:6]):
            label = item["label"] if len(item["label"]) <= 21 else item["label"][:20] + "…"
            shade = "#222" if item["value"] > 0.02 else "#999"
            place = f'x="{column}" y="{44 + 17 * row}"'
            out.append(f'<text {place} font-size="12" fill="{shade}">{html.escape(label)}</text>')
    value = {item["label"]: item["value"] for item in component["top"]["period"]}
    largest = max(value.values())
    for p, period in enumerate(periods):
        bar = 58 * value.get(period, 0) / largest
        out.append(f'<rect x="{12 + 18.4 * p:.1f}" y="{207 - bar:.1f}" width="15" height="{bar:.1f}" fill="#6fa8dc"/>')
    out.append('<text x="12" y="219" font-size="9" fill="#666">1950</text>'
               '<text x="262" y="219" font-size="9" fill="#666">2024</text></g>')
out.append("</svg>")
print("\n".join(out))
