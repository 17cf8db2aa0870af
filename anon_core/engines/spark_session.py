"""Spark on this machine: started without a page or an open port, in a folder of its own.

An extra: pyspark before 4.1, which runs on Java 17.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadPlan

_THREADS = 2


def refuse_without_spark() -> None:
    """Refuse a run that asks for Spark where it, or Java, is not installed.

    Raises
    ------
    BadPlan
        Naming what is missing.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise BadPlan(
            "The engine is 'spark', and pyspark is not installed.",
            remedy="Install the extra: pip install 'anonymity-workbench[spark]'; or use 'duckdb'.",
        )
    home = os.environ.get("JAVA_HOME", "")
    if shutil.which("java") is None and not (Path(home) / "bin" / "java").is_file():
        raise BadPlan(
            "The engine is 'spark', and Java is not installed.",
            remedy="Install Java 17, for example with apt-get install openjdk-17-jre-headless.",
        )


def session(folder: Path, memory: int) -> Any:
    """Start Spark in this process's machine, with all it writes in a folder of the run's own.

    Parameters
    ----------
    folder : Path
    memory : int
        Bytes that Java may take.
    """
    quiet = folder / "log4j2.properties"
    quiet.write_text("rootLogger.level = off\n", encoding="utf-8")
    told = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{memory // 2**20}m",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} "
        f"-Dlog4j2.configurationFile={quiet}",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        # Nobody is there who could tell a progress bar from a result.
        "spark.ui.showConsoleProgress": "false",
    }
    made: Any = importlib.import_module("pyspark.sql").SparkSession
    build = made.builder.master(f"local[{_THREADS}]").appName("anonymity-workbench")
    for key, value in told.items():
        build = build.config(key, value)
    return build.getOrCreate()


def failures() -> tuple[type[Exception], ...]:
    """Return the errors of Spark, and of Java behind it."""
    java: Any = importlib.import_module("py4j.protocol").Py4JError
    spark: Any = importlib.import_module("pyspark.errors").PySparkException
    return java, spark
