import { parsePhoneNumber as parseAwesome } from "awesome-phonenumber";
import cardValidator from "card-validator";
import { cnpj, cpf } from "cpf-cnpj-validator";
import google from "google-libphonenumber";
import { electronicFormatIBAN, isValidIBAN } from "ibantools";
import isbn3 from "isbn3";
import { checkVAT, countries } from "jsvat-next";
import parseMax from "libphonenumber-js/max";
import validator from "validator";

/** Checks of documents and phone numbers that others offer. */
export type DocumentPeer = { readonly name: string; readonly isValid: (value: string) => boolean };
export type PhonePeer = {
  readonly name: string;
  /** The number as E.164, or null; the country is an ISO code or undefined. */
  readonly e164: (text: string, country: string | undefined) => string | null;
};

const vatCountries = Object.values(countries);

export const documentPeers: { readonly [type: string]: readonly DocumentPeer[] } = {
  cpf: [
    { name: "cpf-cnpj-validator", isValid: (value) => cpf.isValid(value) },
    { name: "validator isTaxID", isValid: (value) => validator.isTaxID(value, "pt-BR") },
  ],
  cnpj: [{ name: "cpf-cnpj-validator", isValid: (value) => cnpj.isValid(value) }],
  iban: [
    { name: "ibantools", isValid: (value) => isValidIBAN(electronicFormatIBAN(value) ?? "") },
    { name: "validator isIBAN", isValid: (value) => validator.isIBAN(value) },
  ],
  vat: [{ name: "jsvat-next", isValid: (value) => checkVAT(value, vatCountries).isValid }],
  card: [
    { name: "card-validator", isValid: (value) => cardValidator.number(value).isValid },
    { name: "validator isCreditCard", isValid: (value) => validator.isCreditCard(value) },
  ],
  isbn: [
    { name: "isbn3", isValid: (value) => isbn3.parse(value)?.isValid === true },
    { name: "validator isISBN", isValid: (value) => validator.isISBN(value) },
  ],
  ean13: [{ name: "validator isEAN", isValid: (value) => validator.isEAN(value) }],
  ein: [{ name: "validator isTaxID", isValid: (value) => validator.isTaxID(value, "en-US") }],
};

const util = google.PhoneNumberUtil.getInstance();

export const phonePeers: readonly PhonePeer[] = [
  {
    name: "libphonenumber-js (max): valid or not",
    e164: (text, country) => {
      const number = parseMax(text, country);
      return number?.isValid() === true ? number.number : null;
    },
  },
  {
    name: "libphonenumber-js (max): type and written forms, as ours",
    e164: (text, country) => {
      const number = parseMax(text, country);
      if (number === undefined) return null;
      const forms = [number.formatInternational(), number.formatNational(), number.getURI()];
      const facts = [number.isPossible(), number.getType(), number.isNonGeographic(), ...forms];
      return number.isValid() && facts.length > 0 ? number.number : null;
    },
  },
  {
    name: "google-libphonenumber",
    e164: (text, country) => {
      try {
        const number = util.parse(text, country);
        return util.isValidNumber(number) ? util.format(number, google.PhoneNumberFormat.E164) : null;
      } catch {
        return null;
      }
    },
  },
  {
    name: "awesome-phonenumber",
    e164: (text, country) => {
      const number = parseAwesome(text, country === undefined ? {} : { regionCode: country });
      return number.valid ? number.number.e164 : null;
    },
  },
];
