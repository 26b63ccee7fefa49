# docker build -t etagere .
# docker run -p 10000-10004:10000-10004 -p 10445:10445 -v etagere:/data etagere
#
# The server writes only to /data, so that the root file system may be read-only: `--read-only`.
# docker-bake.hcl builds for several architectures.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build
# What the server needs at run time, with the native modules of the image's architecture.
ARG TARGETARCH
RUN cpu=$(echo "${TARGETARCH:-$(node -p process.arch)}" | sed s/amd64/x64/) \
  && npm ci --omit=dev --no-audit --no-fund --ignore-scripts --os=linux --cpu="$cpu" --libc=glibc

FROM node:24-bookworm-slim
WORKDIR /opt/etagere
COPY --from=build /build/package.json /build/README.md /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/bin bin
COPY --from=build /build/dist dist
COPY --from=build /build/ui/dist ui/dist
# Scripts that start Azurite by one of its names start this server. /data is writable for every
# user, because `docker run --user` may name any.
RUN for name in etagere azurite azurite-blob azurite-queue azurite-table; do \
    ln -s /opt/etagere/bin/etagere "/usr/local/bin/$name"; \
  done \
  && install -d -o node -g node -m 1777 /data
ENV NODE_ENV=production
USER node
VOLUME /data
# Without --location the data folder is .etagere in the current folder.
WORKDIR /data
# Blob, queue, table, file, Data Lake and SMB. The explorer (10010) listens on the container's loopback
# address unless --adminHost says otherwise.
EXPOSE 10000 10001 10002 10003 10004 10445
HEALTHCHECK --interval=10s --timeout=5s --start-period=40s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:10010/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Requests that run get ten seconds to finish.
STOPSIGNAL SIGTERM
CMD ["etagere", "--location", "/data", "--blobHost", "0.0.0.0", "--queueHost", "0.0.0.0", "--tableHost", "0.0.0.0", "--fileHost", "0.0.0.0", "--dfsHost", "0.0.0.0", "--smbHost", "0.0.0.0"]
