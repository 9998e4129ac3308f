/** A URL that wraps after its slashes first. */
export function Breakable({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(?<=[/?&])/).map((piece, at) => (
        <span key={at}>
          {piece}
          <wbr />
        </span>
      ))}
    </>
  );
}
