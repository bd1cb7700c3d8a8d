# Plugins of a team: parley plugin sync && docker build -f plugins.Dockerfile -t ask .
FROM parley
COPY plugins /plugins
ENV PARLEY_PLUGIN_DIR=/plugins
