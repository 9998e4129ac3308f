// Made from DOCUMENT_TYPES by `bun run data:refresh`; do not edit.
import type { DocumentType } from "../../contract/words.ts";
import { card } from "./card.ts";
import { cnpj } from "./cnpj.ts";
import { cpf } from "./cpf.ts";
import type { DocumentCheck } from "./document-check.ts";
import { ean13 } from "./ean13.ts";
import { ein } from "./ein.ts";
import { iban } from "./iban.ts";
import { isbn } from "./isbn.ts";
import { vat } from "./vat.ts";

/** Every type of document there is. */
export const documents: { readonly [T in DocumentType]: DocumentCheck<T> } = {
  cpf,
  cnpj,
  iban,
  vat,
  card,
  isbn,
  ean13,
  ein,
};
