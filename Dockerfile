# The program with compiled kernels, so that nothing is compiled at the start:
#   docker build -t punish-fast . && docker run --rm -p 8248:8248 punish-fast
#   docker run --rm -it -v punish-fast:/home/punish punish-fast play
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir -e ".[web]" "wheel>=0.41" \
    && python -m bench.make.kernels /wheels \
    && pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/punish_fast-*.whl)[plot,web]" /wheels/punish_fast_kernels-*.whl \
    && useradd --create-home --uid 1000 punish
USER 1000
WORKDIR /home/punish
EXPOSE 8248
ENTRYPOINT ["punish-fast"]
CMD ["serve", "--host", "0.0.0.0"]
