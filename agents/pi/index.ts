// The palace in pi: wakes a session up, reports before the agent starts, holds the rules.
// A thin shell over `palace hook`; what is said is decided there.
import { createHash } from "node:crypto";
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

/** What was last said on the branch, by a person or by the agent. */
function last(ctx: ExtensionContext, ...roles: string[]) {
  const branch = ctx.sessionManager.getBranch();
  const found = branch.findLast((entry) => entry.type === "message" && roles.includes(entry.message.role));
  return found?.type === "message" ? found : undefined;
}

/** The name of a prompt. pi gives it an id only later, so it is called after what it follows. */
function named(ctx: ExtensionContext, prompt: string): string {
  const text = createHash("sha256").update(prompt).digest("hex").slice(0, 8);
  return `${last(ctx, "user", "assistant", "toolResult")?.id ?? ""}-${text}`;
}

export default function palace(pi: ExtensionAPI) {
  let waking = ""; // what the session's start gave, until a run begins
  let again = false; // the turn goes on because a rule asked for it
  let turn = ""; // the name of the prompt that the agent works on
  let begun: string | undefined; // the prompt that began the run, until its message comes
  let goesOn = false; // the agent has used tools, and is asked again
  const warned = new Map<string, string>(); // of a tool call, until its result
  const denied = new Set<string>(); // tool calls that did not run

  const asked = (ctx: ExtensionContext, event: string, fields?: Record<string, unknown>): Promise<Answer> => {
    const session = ctx.sessionManager.getSessionId();
    const transcript = ctx.sessionManager.getSessionFile();
    return ask(CLIENT, event, session, ctx.cwd, { transcript_path: transcript, prompt_id: turn, ...fields });
  };

  pi.on("session_start", async (event, ctx) => {
    warned.clear();
    denied.clear();
    turn = "";
    const source = SOURCES[event.reason] ?? "startup";
    waking = (await asked(ctx, "SessionStart", { source })).context;
  });

  pi.on("before_agent_start", async (event, ctx) => {
    const prompt = "prompt" in event && event.prompt ? event.prompt : "";
    turn = named(ctx, prompt);
    begun = prompt || undefined;
    const fitting = prompt ? (await asked(ctx, "UserPromptSubmit", { prompt })).context : "";
    again = goesOn = false;
    const content = [waking, fitting].filter(Boolean).join("\n\n");
    waking = "";
    return content ? { message: { customType: TYPE, content, display: false } } : undefined;
  });

  pi.on("message_end", async ({ message }, ctx) => {
    if (message.role !== "user") return;
    const prompt = textOf(message.content);
    const known = begun !== undefined && prompt.startsWith(begun);
    begun = undefined;
    if (known || !prompt) return;
    // Said while the agent works: what fits is there from its next step on.
    turn = named(ctx, prompt);
    const { context } = await asked(ctx, "UserPromptSubmit", { prompt });
    if (context) pi.sendMessage({ customType: TYPE, content: context, display: false }, { triggerTurn: false });
  });

  pi.on("tool_call", async (event, ctx) => {
    const fields = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId };
    const { context, deny, ask: question } = await asked(ctx, "PreToolUse", fields);
    if (deny || (question && !(ctx.hasUI && (await ctx.ui.confirm("Memory Palace", question))))) {
      denied.add(event.toolCallId);
      return { block: true, reason: deny || question };
    }
    if (context) warned.set(event.toolCallId, context);
    return undefined;
  });

  pi.on("tool_result", async (event, ctx) => {
    if (denied.delete(event.toolCallId)) return undefined; // it never ran
    const text = textOf(event.content);
    const fields = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId };
    const { context } = event.isError
      ? await asked(ctx, "PostToolUseFailure", { ...fields, error: text })
      : await asked(ctx, "PostToolUse", { ...fields, tool_response: text });
    const told = [warned.get(event.toolCallId) ?? "", context].filter(Boolean);
    warned.delete(event.toolCallId);
    if (!told.length) return undefined;
    return { content: [...event.content, { type: "text" as const, text: told.join("\n\n") }] };
  });

  pi.on("turn_end", async (event) => {
    goesOn = event.toolResults.length > 0;
  });

  pi.on("agent_before_settle", async (event, ctx) => {
    const answer = last(ctx, "assistant")?.message;
    const { retry } = await asked(ctx, "Stop", {
      stop_hook_active: again,
      last_assistant_message: answer && "content" in answer ? textOf(answer.content) : "",
    });
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

  pi.on("session_compact", async (event, ctx) => {
    const { context } = await asked(ctx, "SessionStart", { source: "compact" });
    if (!context) return;
    // Between two requests it has to go with the next one; else nobody is to be asked for it.
    const how = goesOn || event.willRetry ? { deliverAs: "steer" as const } : { triggerTurn: false };
    pi.sendMessage({ customType: TYPE, content: context, display: false }, how);
  });

  pi.on("session_shutdown", async (event, ctx) => {
    if (event.reason === "reload") return; // the session goes on
    await asked(ctx, "SessionEnd", { reason: event.reason });
  });
}
