/** Letter by letter into Latin, as passports write Russian, Ukrainian, Macedonian, Greek, Georgian, Armenian and Korean names. */
const latinOf = new Map<string, string>();

function learn(table: string): void {
  for (const pair of table.split(" ")) {
    const [from = "", to = ""] = pair.split("=");
    latinOf.set(from, to);
  }
}

learn(
  "а=a б=b в=v г=g ґ=g д=d ѓ=gj е=e ё=yo є=ye ж=zh з=z ѕ=dz и=i і=i ї=yi й=y ј=j к=k ќ=kj л=l љ=lj м=m н=n њ=nj о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch џ=dzh ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya ʼ= ’=",
);
learn(
  "α=a ά=a β=v γ=g δ=d ε=e έ=e ζ=z η=i ή=i θ=th ι=i ί=i ϊ=i κ=k λ=l μ=m ν=n ξ=x ο=o ό=o π=p ρ=r σ=s ς=s τ=t υ=y ύ=y φ=f χ=ch ψ=ps ω=o ώ=o",
);
learn(
  "ა=a ბ=b გ=g დ=d ე=e ვ=v ზ=z თ=t ი=i კ=k ლ=l მ=m ნ=n ო=o პ=p ჟ=zh რ=r ს=s ტ=t უ=u ფ=p ქ=k ღ=gh ყ=q შ=sh ჩ=ch ც=ts ძ=dz წ=ts ჭ=ch ხ=kh ჯ=j ჰ=h",
);
learn(
  "ա=a բ=b գ=g դ=d ե=e զ=z է=e ը=y թ=t ժ=zh ի=i լ=l խ=kh ծ=ts կ=k հ=h ձ=dz ղ=gh ճ=ch մ=m յ=y ն=n շ=sh ո=o չ=ch պ=p ջ=j ռ=r ս=s վ=v տ=t ր=r ց=ts ւ=v փ=p ք=k օ=o ֆ=f և=ev",
);

const hangulOnsets = "g kk n d tt r m b pp s ss  j jj ch k t p h".split(" ");
const hangulNuclei = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ");
const hangulCodas = " k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ");
const hangulFrom = 0xac00;

function latinOfHangul(code: number): string {
  const index = code - hangulFrom;
  const onset = hangulOnsets[Math.floor(index / 588)] ?? "";
  const nucleus = hangulNuclei[Math.floor((index % 588) / 28)] ?? "";
  return onset + nucleus + (hangulCodas[index % 28] ?? "");
}

export function transliterated(text: string): string {
  let latin = "";
  for (const letter of text.normalize("NFC").toLowerCase()) {
    const code = letter.codePointAt(0) ?? 0;
    latin +=
      code >= hangulFrom && code < hangulFrom + 11_172
        ? latinOfHangul(code)
        : (latinOf.get(letter) ?? letter);
  }
  return latin.replaceAll("ου", "ou").replaceAll("oy", "ou");
}
