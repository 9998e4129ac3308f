import { EVM_ADDRESS, findKnownNetwork, findToken, kindOf } from "../../payments/tokens.ts";
import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, type Finding, notApplicable, worst } from "../check.ts";
import { written } from "../evidence.ts";

export const payAsset: Check = {
  id: "pay.asset",
  title: "The asset can be paid as described",
  weight: 5,
  expected: "USDC of the network, with its EIP-712 name and version, or with the fee payer on Solana",
  fix: 'Base: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 with extra {"name":"USD Coin","version":"2"}. Solana: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v with extra.feePayer.',
  find(evidence) {
    const findings = challengePerResource(evidence).flatMap(({ exchange, accepts }) =>
      accepts.map((entry): Finding => ({ ...judge(entry), at: exchange })),
    );
    return worst(findings) ?? notApplicable("no way to pay was seen");
  },
};

function judge(entry: JsonObject): Pick<Finding, "status" | "observed"> {
  const found = (status: Finding["status"], observed: string) => ({ status, observed });
  const asset = written(entry.asset).slice(0, 80);
  const extra = isObject(entry.extra) ? entry.extra : {};
  const kind = kindOf(written(entry.network));
  if (kind === "evm" && !EVM_ADDRESS.test(asset)) return found("fail", `${asset} is no address`);
  if (kind === "solana" && typeof extra.feePayer !== "string")
    return found("fail", "extra.feePayer is missing");
  const network = findKnownNetwork(written(entry.network));
  if (network === null || network.tokens.length === 0) {
    return found("warn", `${asset} on a network whose tokens are not known here`);
  }
  const token = findToken(network, asset);
  if (token === null) return found("fail", `${asset} is no token that is known on ${network.id}`);
  const { domain, isUsual } = token;
  // By Permit2 the payer signs for the contract of Permit2 and not for the token.
  const isOwn = domain !== null && extra.assetTransferMethod !== "permit2";
  if (isOwn && (extra.name !== domain.name || extra.version !== domain.version)) {
    return found("fail", "extra is not the token's EIP-712 domain: no signature can verify");
  }
  return isUsual ? found("pass", domain?.name ?? "USDC") : found("warn", `${asset} is not USDC`);
}
