"""The page in the browser: its routes, sections, forms, languages, templates and static files."""
