"""Build the package together with the samples, the dashboard and the results that its pages show."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
RESULTS = Path("benchmarks") / "results"
SHOWN = ("papers/*.csv", "nsm.csv", "leave-one-out.md", "oracle.md", "robustness.md")  # the Papers page shows these
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
        for source in (path for pattern in SHOWN for path in (ROOT / RESULTS).glob(pattern)):
            place = target / "dashboard" / source.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)


setup(cmdclass={"build_py": WithDashboard})
