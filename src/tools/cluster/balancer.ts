/**
 * Returns the configuration of HAProxy in front of nodes: a node that does not answer is left out after three seconds and its
 * calls are broken off, one that is about to end gets no new ones and finishes those it has, and a connection that
 * cannot be made goes to another node.
 */
export function balancerConfig(options: {
  readonly host: string;
  readonly port: number;
  readonly ports: readonly number[];
  /** A node may take this long to answer a check, three times, before it is left out. */
  readonly checkTimeoutMs?: number;
}): string {
  const { host, port, ports, checkTimeoutMs = 700 } = options;
  const servers = ports.map(
    (each, place) => `  server node${place + 1} 127.0.0.1:${each} check inter 300ms fall 3 rise 1`,
  );
  return `global
  maxconn 4000
defaults
  mode http
  option http-keep-alive
  option forwardfor
  option redispatch
  retries 3
  retry-on conn-failure
  timeout connect 1s
  timeout client 300s
  timeout server 300s
  timeout check ${checkTimeoutMs}ms
frontend public
  bind ${host}:${port}
  default_backend nodes
backend nodes
  balance leastconn
  option httpchk GET /readyz
  http-check disable-on-404
  default-server on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}
