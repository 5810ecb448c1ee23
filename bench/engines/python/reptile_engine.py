"""An engine: Reptile's Python module (`bindings/python`). The argument is the dialect [default: `google-lib`]."""

import sys

import reptile
from protocol import Engine, Skip, serve


class ReptileEngine(Engine):
    name = "reptile for Python"
    dialect = sys.argv[1] if len(sys.argv) > 1 else "google-lib"

    def version(self):
        return reptile.__version__

    def parse(self, body, origin):
        return reptile.Robots(body, self.dialect)

    def decider(self, parsed, agent):
        # Conformance tests use names that no crawler should have.
        decide = parsed.agent(agent, verbatim=True).decide

        def allows(url):
            verdict = decide(url)
            if verdict == "allow":
                return True
            if verdict == "disallow":
                return False
            raise Skip(f"the verdict is {verdict}")

        return allows


serve(ReptileEngine())
