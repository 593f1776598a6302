// The palace in pi: wakes a session up, reports before the agent starts, holds the rules.
// A thin shell over `palace hook`; what is said is decided there.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Answer, ask, textOf } from "../shared/palace.ts";

const CLIENT = "pi";
const TYPE = "palace-memory";
const SOURCES: Record<string, string> = {
  startup: "startup",
  new: "clear",
  resume: "resume",
  reload: "resume",
  fork: "fork",
};

export default function palace(pi: ExtensionAPI) {
  let waking = ""; // what the session's start gave, until a run begins
  let again = false; // the turn goes on because a rule asked for it
  const warned = new Map<string, string>(); // of a tool call, until its result

  const asked = (ctx: ExtensionContext, event: string, fields?: Record<string, unknown>): Promise<Answer> =>
    ask(CLIENT, event, ctx.sessionManager.getSessionId(), ctx.cwd, fields);

  pi.on("session_start", async (event, ctx) => {
    warned.clear();
    const source = SOURCES[event.reason] ?? "startup";
    waking = (await asked(ctx, "SessionStart", { source })).context;
  });

  pi.on("before_agent_start", async (event, ctx) => {
    const prompt = "prompt" in event && event.prompt ? event.prompt : "";
    const fitting = prompt ? (await asked(ctx, "UserPromptSubmit", { prompt })).context : "";
    again = false;
    const content = [waking, fitting].filter(Boolean).join("\n\n");
    waking = "";
    return content ? { message: { customType: TYPE, content, display: false } } : undefined;
  });

  pi.on("tool_call", async (event, ctx) => {
    const fields = { tool_name: event.toolName, tool_input: event.input };
    const { context, deny, ask: question } = await asked(ctx, "PreToolUse", fields);
    if (deny) return { block: true, reason: deny };
    if (question && !(ctx.hasUI && (await ctx.ui.confirm("Memory Palace", question)))) {
      return { block: true, reason: question };
    }
    if (context) warned.set(event.toolCallId, context);
    return undefined;
  });

  pi.on("tool_result", async (event, ctx) => {
    const text = textOf(event.content);
    const fields = { tool_name: event.toolName, tool_input: event.input };
    const { context } = event.isError
      ? await asked(ctx, "PostToolUseFailure", { ...fields, error: text })
      : await asked(ctx, "PostToolUse", { ...fields, tool_response: text });
    const told = [warned.get(event.toolCallId) ?? "", context].filter(Boolean);
    warned.delete(event.toolCallId);
    if (!told.length) return undefined;
    return { content: [...event.content, { type: "text" as const, text: told.join("\n\n") }] };
  });

  pi.on("agent_before_settle", async (event, ctx) => {
    const { retry } = await asked(ctx, "Stop", { stop_hook_active: again });
    if (!retry || again) return undefined;
    again = true;
    const entry = { type: "custom_message" as const, customType: TYPE, content: retry, display: true };
    return { entries: [...event.entries, entry], continue: true };
  });

  pi.on("session_before_compact", async (event, ctx) => {
    const trigger = event.reason === "manual" ? "manual" : "auto";
    await asked(ctx, "PreCompact", { trigger });
    return undefined;
  });

  pi.on("session_compact", async (_event, ctx) => {
    const { context } = await asked(ctx, "SessionStart", { source: "compact" });
    if (context) pi.sendMessage({ customType: TYPE, content: context, display: false }, { triggerTurn: false });
  });

  pi.on("session_shutdown", async (_event, ctx) => {
    await asked(ctx, "SessionEnd", { reason: "exit" });
  });
}
