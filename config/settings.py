"""Django settings, from the environment (docs/settings.md lists the variables)."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url

from annotation import __version__
from annotation.incoming import site_address
from assay import places
from config.corpora import VARIABLE as CORPORA_VARIABLE
from config.corpora import parse_corpora
from config.environment import Environment
from config.health.access import LOOPBACK, parse_networks
from config.health.access import VARIABLE as HEALTH_FROM_VARIABLE
from config.logs import FORMAT_VARIABLE as LOG_FORMAT_VARIABLE
from config.logs import FORMATS as LOG_FORMATS
from config.oidc import VARIABLE as OIDC_VARIABLE
from config.oidc import parse_sign_in_providers
from config.prices import CURRENCY_VARIABLE, parse_currency, parse_hour_prices
from config.prices import VARIABLE as HOUR_PRICES_VARIABLE
from models_runtime import outside
from models_runtime.evidence import providers
from models_runtime.llm.endpoints import VARIABLE as LLM_ENDPOINTS_VARIABLE
from models_runtime.llm.endpoints import parse_endpoints
from models_runtime.loading import allowed_models
from plugins import template_folders

# Arrow's own allocator keeps tens of megabytes that it needed once. Read when pandas or pyarrow is first imported.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment(file=places.key_file())

# The demo has shipped accounts with one-click sign-in, so it answers on loopback names only.
DEMO = env.boolean("ASSAY_DEMO", False)
DEBUG = env.boolean("ASSAY_DEBUG", False)
# Django refuses to sign anything with an empty one.
# Whether there is anything to sign or to store: help and reports on files leave no folder behind.
NEEDS_DATA = places.needs_key(sys.argv)
SECRET_KEY = env.text(
    places.KEY, None if NEEDS_DATA else "", where_from="`make setup` and `assay serve` write one to assay.env"
)
DATA_DIR = env.path(places.FOLDER, places.default_data_folder())
# Checkers read the variable itself, since they know no Django.
LEXICONS_DIR = env.path("ASSAY_LEXICONS_DIR", BASE_DIR / "models_runtime" / "lexicons")
ALLOWED_HOSTS = env.items("ASSAY_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
# By which address others reach the site; empty: by that of each request.
ADDRESS = env.parsed("ASSAY_ADDRESS", "", site_address)
HTTPS = env.boolean("ASSAY_HTTPS", not (DEBUG or DEMO))
CSRF_TRUSTED_ORIGINS = env.items("ASSAY_TRUSTED_ORIGINS")
LOG_LEVEL = env.text("ASSAY_LOG_LEVEL", "INFO", allowed=("DEBUG", "INFO", "WARNING", "ERROR"))
LOG_FORMAT = env.text(LOG_FORMAT_VARIABLE, "text", allowed=LOG_FORMATS)

if SECRET_KEY and len(SECRET_KEY) < 32:
    env.problem("ASSAY_SECRET_KEY must have at least 32 characters")
if DEMO and any(host not in ("localhost", "127.0.0.1", "[::1]", "testserver") for host in ALLOWED_HOSTS):
    env.problem("ASSAY_ALLOWED_HOSTS must stay on loopback names while ASSAY_DEMO is on")
for origin in CSRF_TRUSTED_ORIGINS:
    if urlsplit(origin).scheme not in ("http", "https"):
        env.problem(f"ASSAY_TRUSTED_ORIGINS needs a scheme in front of {origin!r}, such as https://")

INSTALLED_APPS = [
    "config.apps.AssayConfig",
    "analysis",
    "annotation",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
]

MIDDLEWARE = [
    "config.health.middleware.observed",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.web.door.DoorMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.web.middleware.private_answers",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.web.middleware.AppendedSlash",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.web.middleware.RefusedJobs",
    "config.web.languages.ReadersLanguage",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [places.SHARED / "templates", *template_folders()],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.web.context.site",
            ]
        },
    }
]


def _database(raw: str) -> dict:
    try:
        database = dj_database_url.parse(raw, conn_max_age=60, conn_health_checks=True)
    except (ValueError, dj_database_url.ParseError, dj_database_url.UnknownSchemeError) as error:
        raise ValueError(f"is not a database address: {error}") from None
    if database["ENGINE"] not in ("django.db.backends.sqlite3", "django.db.backends.postgresql"):
        raise ValueError("must start with sqlite:// or postgresql://")
    return database


DATABASES = {
    "default": env.parsed("DATABASE_URL", _database(f"sqlite:///{DATA_DIR / 'assay.sqlite3'}"), _database),
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    if DATABASES["default"]["NAME"] == ":memory:":
        env.problem("DATABASE_URL must name a file: web server and workers share the database")
    DATABASES["default"]["OPTIONS"] = {
        # A transaction takes the write lock when it begins, so two writers queue instead of failing half-way.
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        # FULL: what was acknowledged is on disk, also when the power fails.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=30000; "
        "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000;",
    }
    # Tests use a file too: an in-memory database is shared by no second thread or process.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # A server that does not answer at all would hold a request for minutes.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
PREPARED_STATEMENTS = env.boolean("ASSAY_PREPARED_STATEMENTS", True)

CACHE_URL = env.text("ASSAY_CACHE_URL", "")
if CACHE_URL and urlsplit(CACHE_URL).scheme not in ("redis", "rediss"):
    env.problem("ASSAY_CACHE_URL must start with redis:// or rediss://")
if CACHE_URL:
    CACHES = {"default": {"BACKEND": "config.cache.SharedCache", "LOCATION": CACHE_URL, "KEY_PREFIX": "assay"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "config.web.accounts.InvitationOnlyAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # an invitation link went to the address already
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_USER_DISPLAY = str
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Assay] "
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = None  # the sign-in form asks
ACCOUNT_FORMS = {"login": "config.web.account_forms.SignInForm"}
# A class or a laboratory has one address: per address only what failed counts, and it takes more than slips. allauth's
# other limits hold too. Nobody guesses the token of a reset link, so entering a new password needs none.
ACCOUNT_RATE_LIMITS = {
    "invite": "60/h/user",
    "accept_invitation": "50/5m/ip",
    "return_failed": "50/5m/ip",  # nobody guesses 80 bits; a class that mistypes is not locked out
    "login": None,
    # The key is an account at one address (config.web.accounts): who guesses locks out their own address alone.
    "login_failed": "50/5m/ip,5/5m/key",
    # Of an account at all addresses; once it is used up, each of them has `login_failed_slow` for this account.
    "login_failed_anywhere": "30/h/key",
    "login_failed_slow": "1/5m/key",
    "reset_password": "100/10m/ip,5/m/key",
    "reset_password_from_key": None,
    "api": "600/m/key",  # of each token
}
# How many proxies in front append to X-Forwarded-For: limits per address count the browser's, not the proxy's. Where
# it is not set (-1), `check --deploy` asks.
TRUSTED_PROXIES = env.integer("ASSAY_TRUSTED_PROXIES", -1, minimum=0, maximum=10)
ALLAUTH_TRUSTED_PROXY_COUNT = max(TRUSTED_PROXIES, 0)
HEALTH_FROM = env.parsed(HEALTH_FROM_VARIABLE, LOOPBACK, parse_networks)
# gunicorn reads the same variable.
WEB_PROCESSES = env.integer("WEB_CONCURRENCY", 1, minimum=1)
# Without a mail server, links of researchers create accounts, for addresses that nobody has shown to be theirs.
LINKS_BY_HAND = env.boolean("ASSAY_LINKS_BY_HAND", DEMO)
INVITATION_DAYS = env.integer("ASSAY_INVITATION_DAYS", 14, minimum=1, maximum=365)
# Sign-in providers by name. config.web.oidc decides who gets in.
OIDC = env.parsed(OIDC_VARIABLE, {}, parse_sign_in_providers)
SOCIALACCOUNT_ADAPTER = "config.web.oidc.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [one.as_app() for one in OIDC.values()]}}
# Only addresses that the provider has verified. Where Assay has not verified the account's address, its password, which
# another person may have chosen, ends.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Assay"
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Without a mail server nothing is sent or printed, since mails hold links that sign a person in: administrators find
# these on a page.
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
if email_host := env.text("ASSAY_EMAIL_HOST", ""):
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST = email_host
EMAIL_PORT = env.integer("ASSAY_EMAIL_PORT", 587, minimum=1, maximum=65535)
EMAIL_HOST_USER = env.text("ASSAY_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = env.text("ASSAY_EMAIL_PASSWORD", "")
EMAIL_USE_TLS = env.boolean("ASSAY_EMAIL_TLS", True)
DEFAULT_FROM_EMAIL = env.text("ASSAY_EMAIL_FROM", "assay@localhost")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "manifest-src": ["'self'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Signed-in state lies in the database alone: a cache that was away when a person signed out would let them in again.
SESSION_ENGINE = "django.contrib.sessions.backends.db"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.web.errors.csrf_failure"
# Read in any case: who switches HTTPS off for a while leaves them as they are, without effect.
HTTPS_REDIRECT = env.boolean("ASSAY_HTTPS_REDIRECT", True)
HSTS_SECONDS = env.integer("ASSAY_HSTS_SECONDS", 31536000, minimum=0)
if HTTPS:
    SECURE_SSL_REDIRECT = HTTPS_REDIRECT
    SECURE_HSTS_SECONDS = HSTS_SECONDS
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    if TRUSTED_PROXIES != 0:  # without a proxy the header would be anybody's word
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

STATIC_URL = "static/"
STATIC_ROOT = env.path("ASSAY_STATIC_ROOT", places.static_folder(DATA_DIR))
STATICFILES_DIRS = [places.SHARED / "static"]
FIXTURES_DIR = places.SHARED / "fixtures"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.web.static_files.HashedStaticFiles"
    },
}
MEDIA_ROOT = DATA_DIR / "files"
UPLOAD_LIMIT = env.integer("ASSAY_UPLOAD_LIMIT_MB", 2048, minimum=1) * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# The largest form has four fields for each of a table's columns, at most 1,000.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 4 * 1000 + 100

LANGUAGE_CODE = "en"
# Names in the languages themselves; English is what the code is written in. A language needs a folder in locale/.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [places.SHARED / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
USE_TZ = True
TIME_ZONE = "UTC"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.tokens.TokenAuthentication",
        "annotation.api.tokens.SignedIn",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "annotation.api.tokens.InScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "annotation.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "VERSION": __version__,
    "DESCRIPTION": "Programs do through this what people do on pages, with the rights of their token's owner.",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [],
}

# The embedded broker keeps messages as files. It forgets a message once a worker has fetched it, which is harmless:
# chunk rows with leases are the truth, and the sweep wakes workers again.
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", "filesystem://")
if urlsplit(CELERY_BROKER_URL).scheme not in ("filesystem", "memory", "redis", "rediss", "amqp", "amqps", "pyamqp"):
    env.problem("CELERY_BROKER_URL must start with filesystem://, redis://, rediss://, amqp:// or amqps://")
if CELERY_BROKER_URL.startswith("filesystem"):
    # It needs no host, but kombu warns again and again where none is named.
    CELERY_BROKER_URL = "filesystem://localhost"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(DATA_DIR / "broker"),
        "data_folder_out": str(DATA_DIR / "broker"),
        "control_folder": str(DATA_DIR / "broker-control"),
        "polling_interval": 0.3,
    }
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # after Celery's 100, a worker ends within the hour that a broker is away
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# How long a worker may be silent about a chunk before another may take it.
CHUNK_LEASE_SECONDS = env.integer("ASSAY_CHUNK_LEASE_SECONDS", 60, minimum=2)
# The longest wait before a chunk that met an error is tried again for the first time; it doubles from then on.
CHUNK_RETRY_SECONDS = env.integer("ASSAY_CHUNK_RETRY_SECONDS", 6, minimum=0)
# How many unfinished jobs one person may have, and how many of them may be reports that pages asked for.
JOBS_PER_PERSON = env.integer("ASSAY_JOBS_PER_PERSON", 60, minimum=1)
REPORTS_PER_PERSON = 8
# How long a job waits for a server that is away before it fails.
SERVER_WAIT_SECONDS = 60 * env.integer("ASSAY_SERVER_WAIT_MINUTES", 1440, minimum=0)
# What a worker spends on one part of a job: how long, and how much memory, 0 being without a limit.
JOB_PART_SECONDS = 60 * env.integer("ASSAY_JOB_PART_MINUTES", 720, minimum=1)
JOB_MEMORY_MB = env.integer("ASSAY_JOB_MEMORY_MB", 8192, minimum=0)
# By how much pool processes of workers stand back for others of their machine, as `nice` does; 0 for not at all.
WORKER_NICE = env.integer("ASSAY_WORKER_NICE", 10, minimum=0, maximum=19)
SWEEP_SECONDS = env.integer("ASSAY_SWEEP_SECONDS", 5, minimum=1)
# Hosts that webhooks may reach although their addresses are private: `host` or `host:port`.
WEBHOOK_HOSTS = frozenset(host.lower() for host in env.items("ASSAY_WEBHOOK_HOSTS"))
# The hub that releases are published to, and hosts that this may reach although their addresses are private.
HUB = env.text("ASSAY_HUB", "https://huggingface.co").rstrip("/")
HUB_HOSTS = frozenset(host.lower() for host in env.items("ASSAY_HUB_HOSTS"))
# The same for pages that searches find.
PAGE_HOSTS = frozenset(host.lower() for host in env.items("ASSAY_PAGE_HOSTS"))
# Read again where they are asked, as endpoints are.
SEARCH_PROVIDERS = env.parsed(providers.VARIABLE, {}, providers.parse_providers)
# Read again where a checker is loaded, which knows no Django; here so that a mistake is reported at start.
LLM_ENDPOINTS = env.parsed(LLM_ENDPOINTS_VARIABLE, {}, parse_endpoints)
# Checkers from outside; their modules are imported here, so that a mistake in one is reported at start.
CHECKERS = env.parsed(outside.VARIABLE, (), outside.parse_checkers)
# What else than the models that Assay itself names a run may name, and the largest that a worker loads.
MODELS = env.parsed(allowed_models.VARIABLE, allowed_models.Allowed(), allowed_models.parse_models)
MODEL_LIMIT_GB = env.integer(allowed_models.LIMIT_VARIABLE, 40, minimum=1)
# What runs cost in money, where it is known; endpoints bring their own prices, in the same currency.
HOUR_PRICES = env.parsed(HOUR_PRICES_VARIABLE, {}, parse_hour_prices)
CURRENCY = env.parsed(CURRENCY_VARIABLE, "USD", parse_currency)
# Corpora that retrievers may search, in addition to a data set's own evidence: files by name.
CORPORA = env.parsed(CORPORA_VARIABLE, {}, parse_corpora)

# One handler for all, whose formatter hides links that sign a person in. Django's own handlers and those of servers are
# replaced: they would print addresses as they came, or mail them.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "config.logs.HidingFormatter", "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "filters": {"short": {"()": "config.logs.ShortLines"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["short"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn": {"handlers": [], "propagate": True},
        "uvicorn.access": {"handlers": [], "propagate": True},
    },
}

try:
    if NEEDS_DATA:
        DATA_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    env.problem(f"ASSAY_DATA_DIR cannot be a folder: {error}")
# Secrets that single commands read: `serve`, `release --publish` and `judge --save`.
env.allow("ASSAY_ADMIN_PASSWORD", "ASSAY_HUB_TOKEN", "ASSAY_TOKEN")
env.finish_or_end()
