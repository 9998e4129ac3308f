/**
 * Returns the configuration of HAProxy in front of nodes: a node that does not answer is left out after a second, and
 * a connection that cannot be made goes to another one.
 */
export function balancerConfig(options: {
  readonly host: string;
  readonly port: number;
  readonly ports: readonly number[];
}): string {
  const { host, port, ports } = options;
  const servers = ports.map(
    (each, place) => `  server node${place + 1} 127.0.0.1:${each} check inter 300ms fall 2 rise 1`,
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
  timeout check 500ms
frontend public
  bind ${host}:${port}
  default_backend nodes
backend nodes
  balance leastconn
  option httpchk GET /healthz
  default-server on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}
