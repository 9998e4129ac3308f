/** The headers of a reply, to be copied before the next are asked for. */
export type ReplyHeaders = (wanted: { readonly [name: string]: string }) => Headers;

/**
 * Keeps the headers of the last reply, and sets of the next only what differs. Most of them are alike from call to
 * call, and checking names and values anew takes longer than checking a key.
 */
export function createReplyHeaders(): ReplyHeaders {
  let headers = new Headers();
  let names: string[] = [];
  let values: string[] = [];

  function begin(wanted: { readonly [name: string]: string }): Headers {
    headers = new Headers(wanted);
    names = Object.keys(wanted);
    values = Object.values(wanted);
    return headers;
  }

  return (wanted) => {
    let at = 0;
    for (const name in wanted) {
      const value = wanted[name];
      if (names[at] !== name || value === undefined) return begin(wanted);
      if (values[at] !== value) {
        headers.set(name, value);
        values[at] = value;
      }
      at += 1;
    }
    return at === names.length ? headers : begin(wanted);
  };
}
