"""Seeing robots: a page in the browser, pictures without a screen, replays in one HTML file, small plots."""

from pliant.viewer.browser import ViewerServer, view
from pliant.viewer.camera import Camera
from pliant.viewer.html import export_html
from pliant.viewer.plots import plot_sweep, plot_trajectory
from pliant.viewer.scene import Picture, Scene
from pliant.viewer.snapshot import snapshot, snapshot_image

__all__ = [
    "Camera",
    "Picture",
    "Scene",
    "ViewerServer",
    "export_html",
    "plot_sweep",
    "plot_trajectory",
    "snapshot",
    "snapshot_image",
    "view",
]
