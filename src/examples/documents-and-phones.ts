import { createClient } from "../client/client.ts";
import { exampleAccount, runExample } from "./example-account.ts";

/** Checks what a customer filled into a form; the value in its customary form, or what is wrong with it. */
export async function checkedForm(
  form: { readonly cpf: string; readonly phone: string; readonly anyNumber: string },
  server: { baseUrl: string; apiKey: string },
): Promise<{ readonly cpf: string; readonly phone: string; readonly anyNumber: string }> {
  const assay = createClient(server);
  const [cpf, phone, found] = await Promise.all([
    assay.validateDocument("cpf", form.cpf),
    assay.validatePhone(form.phone, { country: "BR" }),
    assay.detectDocument(form.anyNumber),
  ]);
  return {
    cpf: cpf.valid ? (cpf.formatted ?? cpf.value) : (cpf.message ?? "not valid"),
    phone: phone.valid ? (phone.e164 ?? phone.phone) : `not a phone number (${phone.reason})`,
    anyNumber: found.valid ? `${found.detected} ${found.formatted}` : "no document that we know",
  };
}

// bun src/examples/documents-and-phones.ts [CPF [PHONE [NUMBER]]]
if (import.meta.main) {
  const [cpf = "52998224725", phone = "(11) 98765-4321", anyNumber = "978-3-16-148410-0"] =
    process.argv.slice(2);
  await runExample(async () => {
    const checked = await checkedForm({ cpf, phone, anyNumber }, exampleAccount(process.env));
    return JSON.stringify(checked, null, 2);
  });
}
