// The least that a server in Bun can do: one route that writes a reply which was made before. Its argument is that
// reply, headers and body, as JSON.

const { headers, body }: { headers: { [name: string]: string }; body: string } = JSON.parse(
  process.argv[2] ?? "",
);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  routes: { "/v1/email/verify": () => new Response(body, { headers }) },
  fetch: () => new Response(null, { status: 404 }),
});
process.stdout.write(`listens on ${server.url.origin}\n`);
