import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Word } from "../schema.ts";

export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;
/** The value that a schema describes, as it is read: nothing in it is changed. */
export type Body<Schema extends TSchema> = Frozen<Static<Schema>>;

type Same<A, B> = [A, keyof A] extends [B, keyof B]
  ? [B, keyof B] extends [A, keyof A]
    ? unknown
    : never
  : never;

/**
 * Holds a schema against the type of what is answered: where one of them has a field, a word or a null that the
 * other has not, the compiler refuses it.
 */
export function schemaOf<Value>() {
  return <Schema extends TSchema>(schema: Schema & Same<Frozen<Static<Schema>>, Value>): Schema => schema;
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

export const text = (description: string, example?: string) =>
  Type.String({ description, ...(example === undefined ? {} : { examples: [example] }) });

export const textOrNull = (description: string, example?: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description,
    ...(example === undefined ? {} : { examples: [example] }),
  });

export const count = (description: string) => Type.Integer({ minimum: 0, description });

export const moment = (description: string) =>
  Type.String({ format: "date-time", description: `${description} ISO 8601, UTC.` });

/** Money as callers see it: a decimal string, never a float. */
export const usd = (description: string) => Type.String({ pattern: "^\\d+\\.\\d{2,6}$", description });

export const usdOrNull = (description: string) =>
  Type.Union([Type.String({ pattern: "^\\d+\\.\\d{2,6}$" }), Type.Null()], { description });

export function word<const Words extends readonly string[]>(words: Words, description: string) {
  return Word(words, description);
}

export function wordOrNull<const Words extends readonly string[]>(words: Words, description: string) {
  return Type.Union([Word(words), Type.Null()], { description });
}
