import { findNetwork } from "../../payments/networks.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, type Finding, notApplicable, pass } from "../check.ts";
import { type Fields, isFields, written } from "../evidence.ts";

export const payAsset: Check = {
  id: "pay.asset",
  title: "The asset can be paid as described",
  weight: 5,
  expected: "USDC of the network, with its EIP-712 name and version, or with the fee payer on Solana",
  fix: 'Base: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 with extra {"name":"USD Coin","version":"2"}. Solana: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v with extra.feePayer.',
  find(evidence) {
    const [first] = challengePerResource(evidence);
    if (first === undefined || first.accepts.length === 0) return notApplicable("no way to pay was seen");
    const findings = first.accepts.map(
      (entry): Finding =>
        judge(entry, (status, observed) => {
          return { status, at: first.exchange, observed };
        }),
    );
    const worst =
      findings.find(({ status }) => status === "fail") ?? findings.find(({ status }) => status === "warn");
    return worst ?? pass(first.exchange, "USDC");
  },
};

function judge(entry: Fields, found: (status: Finding["status"], observed: string) => Finding): Finding {
  const network = findNetwork(written(entry.network));
  const asset = written(entry.asset);
  if (network === null) return found("warn", `${asset} on a network that is not known here`);
  const extra = isFields(entry.extra) ? entry.extra : {};
  if (network.kind === "solana") {
    if (asset !== network.usdc) return found("fail", `${asset} is not USDC`);
    return typeof extra.feePayer === "string"
      ? found("pass", "USDC")
      : found("fail", "extra.feePayer is missing");
  }
  if (!/^0x[0-9a-f]{40}$/i.test(asset)) return found("fail", `${asset} is no address`);
  if (asset.toLowerCase() !== network.usdc.toLowerCase()) return found("warn", `${asset} is not USDC`);
  const isDomain = extra.name === network.domain?.name && extra.version === network.domain?.version;
  return isDomain
    ? found("pass", "USDC")
    : found("fail", "extra is not USDC's EIP-712 domain: no signature can verify");
}
