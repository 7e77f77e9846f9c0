"""The table of checks, from which `doctor`, the page for administrators and `/readyz` are made."""

from config.health import database, machine, site, workers
from config.health.findings import Check

CHECKS = {
    "database": Check("Database", database.check_database, is_for_readiness=True),
    "migrations": Check("Migrations", database.check_migrations, needs="database", is_for_readiness=True),
    "broker": Check("Broker", workers.check_broker, is_for_readiness=True),
    "workers": Check("Workers", workers.check_workers, needs="migrations", is_for_readiness=True),
    "scheduler": Check("Scheduler", workers.check_clock, needs="migrations", is_for_readiness=True),
    "models": Check("Models", machine.check_models),
    "libraries": Check("Libraries", machine.check_libraries),
    "disk": Check("Disk", machine.check_disk),
    "mail": Check("Mail", site.check_mail),
    "settings": Check("Settings", site.check_settings),
    "static": Check("Static files", site.check_static_files),
    "addresses": Check("Addresses", site.check_addresses),
    "time": Check("Time", machine.check_time, needs="migrations"),
}
READINESS = {slug: check for slug, check in CHECKS.items() if check.is_for_readiness}
