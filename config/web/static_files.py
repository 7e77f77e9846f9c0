"""Static files under names that carry their content's hash, compressed once, at `collectstatic`."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

# Our own modules only: what packages ship with their scripts imports files that are not there.
MODULES = "js/*.js"
IMPORT = (r'(?P<matched>(?P<what>import\s*\{[^}]*\}\s*from\s*)"(?P<url>\.{1,2}/[^"]+)";)', '%(what)s"%(url)s";')


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Also inside modules: one that imports another names it by its hash, so no browser keeps an old half."""

    patterns = (*CompressedManifestStaticFilesStorage.patterns, (MODULES, (IMPORT,)))
