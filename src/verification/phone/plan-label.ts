import { PHONE_TYPES, type PhoneType } from "../../contract/words.ts";

/** What a numbering plan says of a national number: the label of the state to which it leads the plan's automaton. */
export type PlanLabel = {
  /** The number matches the plan's general description. */
  readonly isGeneral: boolean;
  /** Undefined where the number is in no range of the plan. */
  readonly type: PhoneType | undefined;
  /** The index of the plan's first format that fits; -1 where none does. */
  readonly format: number;
};

const TYPE_SHIFT = 1;
const TYPE_MASK = 15;
const FORMAT_SHIFT = 5;

/** Packs a label into at most 16 bits, 0 for an empty one. */
export function packLabel({ isGeneral, type, format }: PlanLabel): number {
  const typeCode = type === undefined ? 0 : PHONE_TYPES.indexOf(type) + 1;
  return Number(isGeneral) | (typeCode << TYPE_SHIFT) | ((format + 1) << FORMAT_SHIFT);
}

/** Returns whether the number matches the plan's general description. */
export function isGeneral(label: number): boolean {
  return (label & 1) === 1;
}

/** Returns the number's type, undefined where it has none. */
export function typeIn(label: number): PhoneType | undefined {
  return PHONE_TYPES[((label >> TYPE_SHIFT) & TYPE_MASK) - 1];
}

/** Returns the index of the number's format, -1 where it has none. */
export function formatIn(label: number): number {
  return (label >> FORMAT_SHIFT) - 1;
}
