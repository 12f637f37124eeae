"""build/real/real.svg, drawn from report.json by the Python that has matplotlib: `python3 picture.py REPORT SVG`."""

import json
import subprocess
import sys


def bars(report):
    """(title, bytes as shipped, bytes after)"""
    ran = report["wine"]
    found = []
    if "xgboost" in ran:
        found.append(("a process that trains\nxgboost 1.3", *ran["xgboost"]["memory"]))
    if "torch" in ran:
        found.append(("a process with all of\ntorch 1.10, CUDA 11.6", *ran["torch"]["process"]))
    return found


def draw(talk, python, folder):
    if not bars(json.loads((folder / "report.json").read_text(encoding="utf-8"))):
        talk.skip("the picture", "nothing ran that it could show")
        return
    try:
        done = subprocess.run([python, __file__, folder / "report.json", folder / "real.svg"], capture_output=True,
                              text=True)
    except OSError as error:
        talk.skip("the picture", str(error))
        return
    if done.returncode != 0:
        talk.skip("the picture", (done.stderr.strip().splitlines() or ["?"])[-1])


def main(report_path, svg_path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with open(report_path, encoding="utf-8") as file:
        found = bars(json.load(file))
    # The same report gives the same bytes, and fonts are the reader's.
    matplotlib.rcParams.update({"svg.hashsalt": "fixnvpe", "svg.fonttype": "none", "font.family": "sans-serif",
                                "font.size": 10})
    figure, axes = pyplot.subplots(figsize=(7.5, 0.5 + 0.95 * len(found)))
    widest = max(shipped for _, shipped, _ in found) / 2**20
    for i, (_, shipped, after) in enumerate(found):
        for offset, count, color, word in ((-0.2, shipped, "#c0392b", "as shipped"),
                                           (0.2, after, "#2e7d32", "patched")):
            axes.barh(i + offset, count / 2**20, height=0.36, color=color)
            axes.text(count / 2**20 + widest / 100, i + offset, f"{count / 2**20:,.0f} MiB {word}", va="center",
                      color="#777777")
    axes.set_yticks(range(len(found)), [title for title, _, _ in found], color="#777777")
    axes.invert_yaxis()
    axes.set_xlim(0, widest * 1.3)
    axes.set_xticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(left=False)
    axes.set_title("writable image memory of one process, which Windows commits (seen in Wine)", fontsize=10,
                   color="#777777", loc="left")
    figure.savefig(svg_path, transparent=True, bbox_inches="tight", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
