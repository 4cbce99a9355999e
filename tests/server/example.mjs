import OpenAI from "openai";

const code = process.env.CODE.trim();
const openai = new OpenAI();
const refactorPrompt = `
Replace the "username" property with an "email" property. Respond only
with code, and with no markdown formatting.
`;

const completion = await openai.chat.completions.create({
  model: "gpt-4o",
  messages: [
    { role: "user", content: refactorPrompt },
    { role: "user", content: code },
  ],
  store: false,
  prediction: { type: "content", content: code },
  ...JSON.parse(process.env.MORE),
});
if (process.env.MORE === "{}") {
  console.log(JSON.stringify(completion));
} else {
  for await (const chunk of completion) console.log(JSON.stringify(chunk));
}
