/** The server and the key that an example runs with. */
export type ExampleAccount = { readonly baseUrl: string; readonly apiKey: string };

/** Reads the server's address from the environment. Throws a sentence where it is missing. */
export function exampleUrl(environment: { readonly [name: string]: string | undefined }): string {
  const baseUrl = environment.ASSAY_URL?.trim() ?? "";
  if (URL.canParse(baseUrl)) return baseUrl;
  throw new Error("Set ASSAY_URL to the address of a server, such as http://127.0.0.1:3000.");
}

/** Reads the server's address and the key from the environment. Throws a sentence where one is missing. */
export function exampleAccount(environment: { readonly [name: string]: string | undefined }): ExampleAccount {
  const baseUrl = exampleUrl(environment);
  const apiKey = environment.ASSAY_API_KEY?.trim() ?? "";
  if (apiKey !== "") return { baseUrl, apiKey };
  throw new Error(
    `Set ASSAY_API_KEY to a key of ${baseUrl}; one call gets it: curl -s ${baseUrl}/v1/signup -H 'Content-Type: application/json' -d '{"email": "you@your-domain.com"}'`,
  );
}

/** Runs an example from the command line: prints what it returns, or one sentence, and sets the exit code. */
export async function runExample(example: () => Promise<string>): Promise<void> {
  try {
    console.log(await example());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
