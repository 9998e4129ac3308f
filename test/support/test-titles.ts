const TITLED = /\b(test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(["'`])((?:\\.|(?!\2)[^\\])*)\2/g;
/** What a title leaves to be filled in: of a template, of a row's fields, of its values. */
const GAPS = /\$\{[^}]*\}|\$[\w.]+|%[a-z]/g;

/** Returns whether a test file has a test, a group, or a test in a group that is called so. */
export function hasTitle(text: string, title: string): boolean {
  const titles = [...text.matchAll(TITLED)];
  const patternsOf = (kind: string) =>
    titles.flatMap(([, found, , words]) => (found === kind ? [patternOf(words ?? "")] : []));
  const tests = patternsOf("test");
  const groups = patternsOf("describe");
  const whole = [...tests, ...groups, ...groups.flatMap((group) => tests.map((test) => `${group} ${test}`))];
  return whole.some((pattern) => new RegExp(`^${pattern}$`).test(title));
}

function patternOf(title: string): string {
  const fixed = title.split(GAPS).map((words) => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return fixed.join(".+");
}
