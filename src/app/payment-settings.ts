import { payeeKey } from "../directory/payee.ts";
import { findNetwork, NETWORKS } from "../payments/networks.ts";
import type { Payee } from "../payments/offer.ts";
import type { SettingReader } from "./setting-reader.ts";

/** How a paid service is paid. */
export type PaymentConfig = {
  /** The facilitator's base address, without a slash at its end. */
  readonly facilitatorUrl: string;
  /** At least one. */
  readonly payees: readonly Payee[];
};

const DEFAULT_NETWORKS = NETWORKS.filter(({ isTest }) => !isTest);

/** Reads the settings of payment; reports a problem where nobody could be paid. */
export function readPaymentConfig(settings: SettingReader): PaymentConfig {
  const addresses = {
    evm: readPayee(
      settings,
      "PAY_TO_EVM",
      "an EVM address such as 0x0123…, with the right case or in lower case",
    ),
    solana: readPayee(settings, "PAY_TO_SOLANA", "a Solana address in base58"),
  };
  const facilitatorUrl = settings.url("X402_FACILITATOR");
  if (facilitatorUrl === null) {
    settings.problem(
      "X402_FACILITATOR must be the base address of an x402 facilitator: it settles the payments.",
    );
  }
  if (addresses.evm === null && addresses.solana === null) {
    settings.problem(
      "PAY_TO_EVM or PAY_TO_SOLANA must be the address that is paid: this service is paid by the call.",
    );
  }
  const named = settings.optional("X402_NETWORKS");
  const networks = (named ?? "").split(",").flatMap((text) => {
    const name = text.trim();
    const network = name === "" ? null : findNetwork(name);
    if (name !== "" && network === null) {
      settings.problem(
        `X402_NETWORKS must list networks of ${NETWORKS.map(({ id }) => id).join(", ")}, not "${name}".`,
      );
    }
    return network ?? [];
  });
  const payees = (named === null ? DEFAULT_NETWORKS : networks).flatMap((network) => {
    const payTo = addresses[network.kind];
    if (payTo === null && named !== null) {
      settings.problem(
        `X402_NETWORKS lists ${network.id}, and PAY_TO_${network.kind.toUpperCase()} is missing.`,
      );
    }
    return payTo === null ? [] : [{ network, payTo }];
  });
  return { facilitatorUrl: facilitatorUrl ?? "", payees };
}

function readPayee(
  settings: SettingReader,
  name: "PAY_TO_EVM" | "PAY_TO_SOLANA",
  what: string,
): string | null {
  const value = settings.optional(name);
  if (value === null) return null;
  if (payeeKey(value) !== null && value.startsWith("0x") === (name === "PAY_TO_EVM")) return value;
  settings.problem(`${name} must be ${what}, not "${value}".`);
  return value;
}
