import { describe, expect, test } from "bun:test";
import { type ChatRequest, readChatRequest } from "../../src/inference/chat-request.ts";
import { boundCost } from "../../src/inference/cost-bound.ts";
import { type Model, readModels } from "../../src/inference/model-table.ts";
import { createQuotes, QUOTE_MS } from "../../src/inference/quote.ts";
import { atOnce } from "../../src/platform/steps.ts";

const ROW = {
  model: "m",
  upstream_model: "vendor/m",
  input_usd_per_million: "0.15",
  output_usd_per_million: "0.6",
  context_tokens: 100_000,
  max_output_tokens: 4000,
  margin: 0.2,
};

function tableOf(...rows: object[]) {
  return readModels(JSON.stringify({ models: rows }));
}

function modelOf(row: object): Model {
  const read = tableOf(row);
  const model = read.ok ? read.table.models[0] : undefined;
  if (model === undefined) throw new Error("no model");
  return model;
}

async function requestOf(body: object): Promise<ChatRequest> {
  const read = await readChatRequest(Buffer.from(JSON.stringify(body)), atOnce);
  if (!read.ok) throw new Error(read.message);
  return read.request;
}

const user = (content: unknown) => ({ role: "user", content });

describe("the price table", () => {
  test("is read to the millionth of a dollar", () => {
    expect(modelOf(ROW)).toEqual({
      model: "m",
      upstreamModel: "vendor/m",
      inputMicroUsdPerMillion: 150_000,
      outputMicroUsdPerMillion: 600_000,
      contextTokens: 100_000,
      outputTokensMax: 4000,
      imageTokensMax: null,
      marginBasisPoints: 2000,
    });
  });

  test("is refused with a sentence for each fault", () => {
    const read = tableOf(
      { ...ROW, input_usd_per_million: "-1", margin: "x", price: 1 },
      { ...ROW, max_output_tokens: 200_000 },
    );
    expect(read).toEqual({
      ok: false,
      problems: [
        expect.stringContaining("models[0].price is none of"),
        expect.stringContaining("models[0].margin must be"),
        expect.stringContaining("models[0].input_usd_per_million must be"),
        expect.stringContaining("models[1].max_output_tokens must be"),
        "the model m is there twice",
      ],
    });
    for (const text of ["", "[]", "{}", '{"models":[]}', "null"]) expect(readModels(text).ok).toBe(false);
  });
});

describe("the bound of a call's cost", () => {
  test("counts the digits of a number that reaches the upstream to the letter", async () => {
    const boundOf = async (numbers: readonly string[]) => {
      const parameters = `{"enum":[${numbers.join(",")}],"not":"${"1".repeat(30)}"}`;
      const tools = `[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
      const unread = `"temperature":0.${"0".repeat(400)}`;
      const messages = JSON.stringify([user("hi")]);
      const text = `{"model":"m",${unread},"messages":${messages},"tools":${tools}}`;
      const read = await readChatRequest(Buffer.from(text), atOnce);
      if (!read.ok) throw new Error(read.message);
      const bound = boundCost(read.request, modelOf(ROW));
      return bound.ok ? bound.inputTokens : 0;
    };
    const none = await boundOf([]);
    for (const number of ["7".repeat(400), `-1${"0".repeat(29)}`, `1.${"0".repeat(50)}`, "1e400", "-0"]) {
      expect(await boundOf([number, number])).toBe(none + 2 * number.length + 1);
    }
    for (const number of ["7", "-12.5", "1e2"]) {
      expect(await boundOf([number])).toBe(none + JSON.stringify(JSON.parse(number)).length);
    }
  });

  test("counts the shortest JSON of what the model reads, however a body is spaced and escaped", async () => {
    const body = {
      model: "m",
      user: "日本",
      messages: [user("Ünï \n 😀")],
      metadata: { a: ["é", 1] },
      ä: [1, -2.5, "x"],
      tools: [],
    };
    const read = JSON.stringify([body.messages, body.ä, body.tools]);
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 3)]) {
      const ascii = text.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      for (const sent of [text, ascii]) {
        const request = await readChatRequest(Buffer.from(sent), atOnce);
        const bound = request.ok ? boundCost(request.request, modelOf(ROW)) : null;
        // A name beyond ASCII may count for its further bytes.
        const more = sent === text ? Buffer.byteLength("ä") - 1 : 0;
        expect([sent, bound?.ok && bound.inputTokens]).toEqual([
          sent,
          Buffer.byteLength(read) + more + 16 + 256,
        ]);
      }
    }
  });

  test("is never under what the tokens of any tokenizer can be: one for each byte", async () => {
    const content = "a😀".repeat(1000);
    const bound = boundCost(
      await requestOf({ model: "m", messages: [user(content)], max_tokens: 10 }),
      modelOf(ROW),
    );
    expect(bound.ok && bound.inputTokens).toBeGreaterThan(Buffer.byteLength(content));
    expect(bound.ok && bound.outputTokens).toBe(10);
  });

  test("is rounded up, with the margin, and never under 0.002 USD", async () => {
    const small = boundCost(
      await requestOf({ model: "m", messages: [user("hi")], max_tokens: 1 }),
      modelOf(ROW),
    );
    expect(small.ok && small.microUsd).toBe(2000);
    const request = await requestOf({ model: "m", messages: [user("x".repeat(50_000))], n: 2 });
    const bound = boundCost(request, modelOf(ROW));
    if (!bound.ok) throw new Error(bound.message);
    expect(bound.outputTokens).toBe(8000);
    const exact = ((bound.inputTokens * 0.15 + bound.outputTokens * 0.6) * 1.2) / 1;
    expect(bound.microUsd).toBe(Math.ceil(exact - 1e-6));
  });

  test("counts an image by the table, whatever its address is long", async () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(90_000)}` } };
    const request = await requestOf({ model: "m", messages: [user([{ type: "text", text: "see" }, image])] });
    const refused = boundCost(request, modelOf(ROW));
    expect(refused).toEqual({ ok: false, message: "m takes no images here.", param: "messages" });
    const bound = boundCost(request, modelOf({ ...ROW, image_tokens: 2000 }));
    expect(bound.ok && bound.inputTokens).toBeWithin(2000, 3000);
  });

  test("counts all that an upstream may read, and the larger of two limits", async () => {
    const plain = { model: "m", messages: [user("hi")], max_tokens: 1 };
    const boundOf = async (body: object) => {
      const bound = boundCost(await requestOf(body), modelOf({ ...ROW, image_tokens: 10 }));
      if (!bound.ok) throw new Error(bound.message);
      return bound;
    };
    const { inputTokens } = await boundOf(plain);
    const long = "x".repeat(50_000);
    // Documents and instructions are part of what some upstreams make of a call.
    for (const more of [
      { chat_template_kwargs: { instructions: long } },
      { documents: [{ text: long }] },
      { tools: [long] },
    ]) {
      expect((await boundOf({ ...plain, ...more })).inputTokens).toBeGreaterThan(inputTokens + 50_000);
    }
    for (const more of [{ user: long }, { metadata: { a: long } }, { temperature: 0.123456789 }]) {
      expect((await boundOf({ ...plain, ...more })).inputTokens).toBe(inputTokens);
    }
    // A text that stands in the part of an image is a text.
    const image = {
      type: "image_url",
      text: long,
      image_url: { url: "https://pictures.example", detail: long },
    };
    expect((await boundOf({ ...plain, messages: [user([image])] })).inputTokens).toBeGreaterThan(100_000);
    const limits = { ...plain, max_tokens: 3000, max_completion_tokens: 1 };
    expect((await boundOf(limits)).outputTokens).toBe(3000);
  });

  test("is refused for what would make another call of it at the upstream than the one that is priced", async () => {
    const plain = { model: "m", messages: [user("hi")], max_tokens: 4000 };
    const paramOf = async (body: object) => {
      const bound = boundCost(await requestOf({ ...plain, ...body }), modelOf(ROW));
      return bound.ok ? null : bound.param;
    };
    for (const [param, value] of [
      ["max_tokens", 4001],
      ["max_completion_tokens", 1e15],
      ["n_predict", 4001],
      ["n_cmpl", 20],
      ["extra_body", { max_tokens: 100_000 }],
      ["service_tier", "priority"],
      ["service_tier", "flex"],
      ["service_tier", 1],
      ["prediction", { type: "content", content: "x" }],
      ["web_search_options", {}],
      ["audio", { voice: "alloy", format: "wav" }],
      ["best_of", 20],
      ["chat_template", "{% for n in range(100000) %}{{ messages }}{% endfor %}"],
      ["mm_processor_kwargs", { min_pixels: 1_000_000_000 }],
      ["data_sources", [{ type: "azure_search" }]],
      ["enable_search", true],
      ["models", ["a/dear-one"]],
      ["modalities", ["text", "audio"]],
      ["tools", [{ type: "function", function: {} }, { type: "browser_search" }]],
    ] as const) {
      expect([param, value, await paramOf({ [param]: value })]).toEqual([param, value, param]);
    }
    for (const fields of [
      { max_completion_tokens: 4000 },
      { service_tier: "auto" },
      { service_tier: "default" },
      { service_tier: null, prediction: null },
      { enable_search: false },
      { modalities: ["text"] },
      { tools: [{ type: "function", function: {} }, { type: "custom", custom: {} }, { function: {} }] },
    ]) {
      expect([fields, await paramOf(fields)]).toEqual([fields, null]);
    }
  });

  test("is at most 1,000 USD, however dear the model and however many tokens", async () => {
    const row = { ...ROW, context_tokens: 1_000_000_000, max_output_tokens: 1_000_000_000, margin: 0 };
    const boundOf = async (usd: string, n: number) =>
      boundCost(
        await requestOf({ model: "m", messages: [user("hi")], max_tokens: 10_000_000, n }),
        modelOf({ ...row, input_usd_per_million: "0", output_usd_per_million: usd }),
      );
    expect(await boundOf("50", 2)).toMatchObject({ ok: true, microUsd: 1_000_000_000 });
    for (const [usd, n] of [
      ["50.000001", 2],
      ["999999.999999", 128],
    ] as const) {
      expect(await boundOf(usd, n)).toEqual({
        ok: false,
        message: "A call costs at most 1000.00 USD, and this one may cost more: lower max_tokens or n.",
        param: "max_tokens",
      });
    }
  });

  test("is refused for parts whose tokens nobody knows", async () => {
    const request = await requestOf({
      model: "m",
      messages: [user([{ type: "input_audio", input_audio: {} }])],
    });
    expect(boundCost(request, modelOf(ROW))).toEqual({
      ok: false,
      message: "Parts of type input_audio have no price here.",
      param: "messages",
    });
  });
});

describe("a quote", () => {
  let now = 1_800_000_000_500;
  const quotes = createQuotes("secret", () => now);
  const quote = quotes.make("aa", 2500);

  test("is known again for its request and price alone", () => {
    expect(quotes.find(quote.quoteId, "aa", 2500)).toEqual(quote);
    expect(quotes.find(quote.quoteId, "ab", 2500)).toBeNull();
    expect(quotes.find(quote.quoteId, "aa", 2499)).toBeNull();
    expect(createQuotes("other", () => now).find(quote.quoteId, "aa", 2500)).toBeNull();
    const later = quote.quoteId.replace(
      /^quote_([^_]+)/,
      (_, at) => `quote_${(Number.parseInt(at, 36) + 60).toString(36)}`,
    );
    expect(quotes.find(later, "aa", 2500)).toBeNull();
    for (const odd of ["", "quote_", "quote_x_y", `${quote.quoteId}A`])
      expect(quotes.find(odd, "aa", 2500)).toBeNull();
  });

  test("says when it ends: 300 s, never more", async () => {
    expect(quote.expiresAt - now).toBeWithin(QUOTE_MS - 1000, QUOTE_MS + 1);
    now += QUOTE_MS + 1;
    expect(quotes.find(quote.quoteId, "aa", 2500)?.expiresAt).toBe(quote.expiresAt);
  });
});

describe("the body of a chat", () => {
  const refusalOf = async (body: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const read = await readChatRequest(Buffer.from(text), atOnce);
    return read.ok ? null : [read.code, read.param];
  };
  const messages = [user("hi")];

  test("is refused with the field that is wrong", async () => {
    expect(await refusalOf("{")).toEqual(["invalid_json", null]);
    expect(await refusalOf([])).toEqual(["invalid_request", null]);
    expect(await refusalOf({ messages })).toEqual(["invalid_request", "model"]);
    expect(await refusalOf({ model: "m" })).toEqual(["invalid_request", "messages"]);
    expect(await refusalOf({ model: "m", messages: [] })).toEqual(["invalid_request", "messages"]);
    expect(await refusalOf({ model: "m", messages: ["hi"] })).toEqual(["invalid_request", "messages"]);
    expect(await refusalOf({ model: "m", messages, stream: 1 })).toEqual(["invalid_request", "stream"]);
    expect(await refusalOf({ model: "m", messages, stream_options: [] })).toEqual([
      "invalid_request",
      "stream_options",
    ]);
    expect(await refusalOf({ model: "m", messages, n: 0 })).toEqual(["invalid_request", "n"]);
    expect(await refusalOf({ model: "m", messages, max_tokens: 1.5 })).toEqual([
      "invalid_request",
      "max_tokens",
    ]);
    const n = { model: "m", messages, n: 1e9 };
    expect(await refusalOf(n)).toEqual(["invalid_request", "n"]);
    for (const filled of [
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      `[${"0,".repeat(2_000_000)}0]`,
    ]) {
      const body = JSON.stringify({ model: "m", messages, tools: 0 }).replace(
        '"tools":0',
        `"tools":${filled}`,
      );
      expect(await refusalOf(body)).toEqual(["invalid_request", null]);
    }
    expect(
      await refusalOf({ model: "m", messages, whatever: { it: "is" }, stream: null, n: null }),
    ).toBeNull();
  });

  test("is refused where upstreams may read another call in it than the one that is priced", async () => {
    const bodyWith = (fields: string) =>
      `{"model":"m","messages":[{"role":"user","content":"hi"}],${fields}}`;
    expect(await refusalOf(bodyWith('"max_tokens":1'))).toBeNull();
    for (const [fields, param] of [
      ['"max_tokens":100000,"max_tokens":1', null],
      ['"max_tokens":100000,"max\\u005ftokens":1', null],
      ['"x":{"a":[{"b":1,"c":{},"b":[]}]}', null],
      ['"messages":[{"role":"user","content":"hi"}]', null],
      ['"__proto__":1,"__proto__":2', null],
      ['"Max_Tokens":100000', "Max_Tokens"],
      ['"max_completion_to\u212aens":100000', "max_completion_to\u212aens"],
      ['"me\u017f\u017fages":[]', "me\u017f\u017fages"],
      ['"N":100', "N"],
      ['"n_predict":-1', "n_predict"],
      ['"Service_Tier":"priority"', "Service_Tier"],
      ['"Best_Of":20', "Best_Of"],
    ] as const) {
      expect([fields, await refusalOf(bodyWith(fields))]).toEqual([fields, ["invalid_request", param]]);
    }
    const image =
      '{"type":"text","text":"x","Type":"image_url","image_url":{"url":"https://pictures.example"}}';
    for (const message of [
      `{"role":"user","content":"x","Content":[${image}]}`,
      `{"role":"user","content":[${image}]}`,
    ]) {
      expect(await refusalOf(`{"model":"m","messages":[${message}]}`)).toEqual([
        "invalid_request",
        "messages",
      ]);
    }
    const same = '"a":{},"b":[],"c":[{"a":1},{"a":2,"b":"\\"a\\":1,"}],"d":{"a":{"a":{}}},"e":[[],[{}]]';
    expect(await refusalOf(bodyWith(same))).toBeNull();
  });
});
