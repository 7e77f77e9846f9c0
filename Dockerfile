# docker build -t assay .                                  for the CPU, without torch
# docker build -t assay --build-arg TORCH=cpu .            with checkers that compute with local models
# docker build -t assay-cuda --build-arg TORCH=cu128 .     the same on a GPU (torch brings CUDA's libraries)
# docker run -p 8000:8000 -v assay:/srv/assay -e ADMIN_EMAIL=you@example.org -e ASSAY_ADMIN_PASSWORD=… assay
FROM debian:bookworm-slim
ARG TORCH=none
ARG EXTRAS=formats,checkers
COPY . /src
RUN EXTRAS="$EXTRAS" TORCH="$TORCH" /src/deploy/install.sh \
    && install -m 755 /src/deploy/start.sh /opt/assay/start \
    && rm -rf /src /root/.cache /var/lib/apt/lists/*
ENV PATH=/opt/assay/bin:$PATH ASSAY_DATA_DIR=/srv/assay PYTHONUNBUFFERED=1
USER assay
WORKDIR /srv/assay
VOLUME /srv/assay
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz')"]
CMD ["/opt/assay/start"]
