"""Build: the samples and the dashboard, which stand at the top of the repository, go into the package as well."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "make.py")


class WithDashboard(build_py):
    """Copies what an installed package needs: `dpviz/sample_data` and `dpviz/dashboard`."""

    def run(self) -> None:
        """Build as usual, then copy."""
        super().run()
        target = Path(self.build_lib) / "dpviz"
        for source, place in (
            ("sample_data", "sample_data"),
            ("pages", "dashboard/pages"),
            (".streamlit", "dashboard/.streamlit"),
        ):
            shutil.copytree(ROOT / source, target / place, ignore=LEFT_OUT, dirs_exist_ok=True)
        shutil.copy(ROOT / "app.py", target / "dashboard" / "app.py")


setup(cmdclass={"build_py": WithDashboard})
