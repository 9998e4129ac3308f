/** The same call in one language. */
export type Sample = { readonly language: string; readonly text: string };

type JsonCall = { readonly path: string; readonly body: { readonly [name: string]: unknown } };

/** Returns a POST in curl, TypeScript and Python. The key is read from a variable. */
export function samplesOf(origin: string, { path, body }: JsonCall): readonly Sample[] {
  const json = JSON.stringify(body);
  const shell = `'${json.replaceAll("'", `'\\''`)}'`;
  return [
    {
      language: "curl",
      text: `curl -s ${origin}${path} \\
  -H "Authorization: Bearer $ASSAY_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shell}`,
    },
    {
      language: "TypeScript",
      text: `const reply = await fetch("${origin}${path}", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.ASSAY_API_KEY}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${json}),
});
console.log(await reply.json());`,
    },
    {
      language: "Python",
      text: `import json, os, urllib.request

request = urllib.request.Request(
    "${origin}${path}",
    data=json.dumps(json.loads(${JSON.stringify(json)})).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['ASSAY_API_KEY']}",
        "Content-Type": "application/json",
    },
)
print(json.load(urllib.request.urlopen(request)))`,
    },
  ];
}
