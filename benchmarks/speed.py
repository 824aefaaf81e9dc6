"""All speed measurements in one run: ``python -m benchmarks.speed``."""

from __future__ import annotations

from benchmarks import env_speed, hazards, import_time, loading, multi_turn, tau_bench


def main() -> None:
    """Run and print them."""
    for module in (import_time, loading, env_speed, hazards, multi_turn, tau_bench):
        print(f"# {module.__name__}")
        module.measure()


if __name__ == "__main__":
    main()
