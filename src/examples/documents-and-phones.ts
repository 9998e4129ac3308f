import { createClient } from "../client/client.ts";

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
