# SPDX-License-Identifier: MIT
"""LibreOffice converts a text and a table.
Runs in: tests."""

import hashlib
import os

from stage import Program


class Office(Program):
    """soffice, without a screen."""

    name = "libreoffice"
    package = "libreoffice-writer-nogui libreoffice-calc-nogui"
    commands = ("soffice",)

    def run(self, stage):
        """Returns {what: result}."""
        stage.write("text.html", "<html><body><h1>A text</h1>" + "".join(
            f"<p>Paragraph {i} <b>of</b> a text, {i * i}.</p>"
            for i in range(300)) + "</body></html>")
        stage.write("table.csv", "".join(
            f"{i},{i * i},=A{i + 1}+B{i + 1}\n" for i in range(2000)))
        results = {}
        for source, kind, end in (
                ("text.html", "odt:writer8", "odt"), ("text.odt", "txt", "txt"),
                ("text.odt", "pdf", "pdf"), ("table.csv", "ods", "ods"),
                ("table.ods", "csv:Text - txt - csv (StarCalc):44,34,76,1",
                 "csv")):
            os.makedirs(stage.path("out"), exist_ok=True)
            where = "out" if end == "csv" else "."
            done = stage.run(
                "soffice", "--headless", "-env:UserInstallation=file://" +
                stage.path("profile"), "--convert-to", kind, "--outdir",
                stage.path(where), stage.path(source))
            text = str(done).replace(stage.folder, "")
            path = stage.path(where, source.split(".")[0] + "." + end)
            if end in ("txt", "csv"):
                with open(path, "rb") as file:
                    text += hashlib.sha256(file.read()).hexdigest()
            else:
                text += str(os.path.getsize(path) // 1000)
            results[f"{source} to {end}"] = text
        return results


PROGRAM = Office()
