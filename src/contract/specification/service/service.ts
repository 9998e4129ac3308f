import { Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { Alive, Health, Ready } from "./service-replies.ts";

export const getLiveness = operation({
  operationId: "getLiveness",
  method: "GET",
  path: "/healthz",
  tag: "Operation",
  summary: "Whether the process lives",
  description: "Touches no other part.",
  access: "open",
  replies: { 200: jsonReply("It does.", Alive) },
  refusals: ["method_not_allowed"],
  samples: { alive: { summary: "A process that lives" } },
});

export const getReadiness = operation({
  operationId: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "Operation",
  summary: "Whether a balancer may send calls here",
  description:
    "404 `not_found` from SIGTERM on, while the server still answers for SHUTDOWN_DELAY_SECONDS: HAProxy's `http-check disable-on-404` then sends no new calls and lets the running ones end. Touches no other part.",
  access: "open",
  replies: { 200: jsonReply("It may.", Ready) },
  refusals: ["not_found", "method_not_allowed"],
  samples: { ready: { summary: "A server that takes calls" } },
});

export const getHealth = operation({
  operationId: "getHealth",
  method: "GET",
  path: "/health",
  tag: "Operation",
  summary: "Whether each part does its work",
  description:
    "Exercises each part, at most once a second. Trouble with the DNS or the directory is `degraded`.",
  access: "open",
  replies: {
    200: jsonReply("`healthy` or `degraded`.", Health),
    503: jsonReply("`failing`: calls cannot be answered or charged. Not the error envelope.", Health, [
      "Retry-After",
    ]),
  },
  refusals: ["method_not_allowed"],
  samples: { healthy: { summary: "Every part works" } },
});

export const getMetrics = operation({
  operationId: "getMetrics",
  method: "GET",
  path: "/metrics",
  tag: "Operation",
  summary: "Measurements for Prometheus",
  description:
    "For callers on the server's own machine, unless its operator opens it: to the holders of a bearer token (`METRICS_TOKEN`) or to everyone (`METRICS=public`). Others get 404, or 401 where a token is set.",
  access: "open",
  replies: {
    200: {
      description: "The text form of Prometheus.",
      content: { "text/plain": Type.String() },
    },
  },
  refusals: ["missing_key", "bad_key", "not_found"],
});

export const getSpecification = operation({
  operationId: "getSpecification",
  method: "GET",
  path: "/openapi.json",
  tag: "Operation",
  summary: "This document",
  access: "public",
  ifNoneMatch: true,
  replies: {
    200: jsonReply("OpenAPI 3.1.", Type.Object({}, { additionalProperties: true }), [
      "ETag",
      "Cache-Control",
      "Vary",
      "Content-Encoding",
    ]),
    304: {
      description: "Nothing has changed.",
      headers: ["ETag", "Cache-Control", "Vary", "Content-Encoding"],
    },
  },
});
