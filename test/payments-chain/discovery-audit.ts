import {
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  getL3,
  getOpenAPI,
  getProbe,
  getWarningsFor402Body,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
} from "@agentcash/discovery";

/** Returns everything that the audit of AgentCash has to say of a service, of any severity: `code: message`. */
export async function auditService(origin: string): Promise<readonly string[]> {
  const openApi = (await getOpenAPI(origin)).unwrapOr(null);
  const warnings = [...getWarningsForOpenAPI(openApi), ...(await getWarningsForFavicon(origin).unwrapOr([]))];
  if (openApi === null || isOpenApiParseFailure(openApi)) return warnings.map(written);
  const routes = checkL2ForOpenAPI(openApi);
  warnings.push(...getWarningsForL2(routes), ...getWarningsForL4(checkL4ForOpenAPI(openApi)));
  const paid = routes.routes.filter(({ authMode }) => authMode === "paid");
  if (paid.length === 0) throw new Error("the audit finds nothing that is paid");
  for (const { method, path } of paid) {
    const probes = (await getProbe(origin + path)).unwrapOr([]);
    warnings.push(...getWarningsForL3(getL3(openApi, probes, path, method)));
    const challenge = await fetch(origin + path, { method });
    const header = challenge.headers.get("PAYMENT-REQUIRED") ?? "";
    warnings.push(...(getWarningsFor402Body(JSON.parse(atob(header))) as typeof warnings));
  }
  return warnings.map(written);
}

function written({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code}: ${message}`;
}
