"""Build the packages dpviz, with the samples and the dashboard, and dpviz_lab, which is the folder lab/ of a clone."""

import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "make.py")


class WithDashboard(build_py):
    """Build step that also copies the files an installed package needs: `dpviz/sample_data` and `dpviz/dashboard`."""

    def run(self) -> None:
        """Build as usual, then copy the files."""
        super().run()
        target = Path(self.build_lib) / "dpviz"
        for source, place in (
            ("sample_data", "sample_data"),
            ("pages", "dashboard/pages"),
            (".streamlit", "dashboard/.streamlit"),
        ):
            shutil.copytree(ROOT / source, target / place, ignore=LEFT_OUT, dirs_exist_ok=True)
        shutil.copy(ROOT / "app.py", target / "dashboard" / "app.py")


LAB = find_packages(include=["lab", "lab.*"], exclude=["lab.benchmarks"])  # benchmarks need the clone
setup(
    cmdclass={"build_py": WithDashboard},
    packages=[*find_packages(include=["dpviz", "dpviz.*"]), *(f"dpviz_{name}" for name in LAB)],
    package_dir={"dpviz_lab": "lab"},
)
