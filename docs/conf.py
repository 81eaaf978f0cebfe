"""Sphinx settings; the reference pages are written from the code before each build."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _generate

project = "Amos"
author = "the Amos contributors"
copyright = author  # noqa: A001 - Sphinx names it
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "Transcripts in, cited memory out", "page_width": "1100px"}
nitpicky = True

_generate.write_pages()
