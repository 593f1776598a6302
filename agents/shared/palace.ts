// Asks `palace hook` about one moment of a session. Whatever goes wrong, the session goes on.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Answer {
  /** For the model, fenced as data. */
  context: string;
  /** Why a tool must not run. */
  deny: string;
  /** Why a person is to be asked before a tool runs. */
  ask: string;
  /** Why the turn is not over. */
  retry: string;
}

const NOTHING: Answer = { context: "", deny: "", ask: "", retry: "" };
const LONGEST_TEXT = 200_000;

/** Milliseconds after which the session goes on without an answer: more than the hook itself takes. */
const DEADLINES: Record<string, number> = {
  SessionStart: 10_000,
  PostToolUse: 70_000, // a rule may run a command for 60 s
  Stop: 15_000,
  SubagentStop: 15_000,
};
const DEADLINE = 5_000;

const place = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Program and first arguments of the checkout that this file is part of. */
const [PROGRAM, ...FIRST] =
  process.platform === "win32"
    ? [place(".venv/Scripts/python.exe"), "-I", place("scripts/hook.py")]
    : ["sh", place("scripts/hook.sh")];

/** The text of a tool's result, and of nothing else. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content.slice(0, LONGEST_TEXT);
  if (!Array.isArray(content)) return "";
  const texts = content.filter((part) => part?.type === "text").map((part) => String(part.text));
  return texts.join("\n").slice(0, LONGEST_TEXT);
}

/** One event, in the field names of Claude Code, and what the palace says to it. */
export function ask(
  client: string,
  event: string,
  session: string,
  cwd: string,
  fields: Record<string, unknown> = {},
): Promise<Answer> {
  if (process.env.PALACE_HOOK) return Promise.resolve(NOTHING); // a hook started this client
  const input = JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...fields });
  return new Promise((resolve) => {
    let out = "";
    try {
      const child = spawn(PROGRAM, [...FIRST, event, "--client", client], {
        cwd,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: DEADLINES[event] ?? DEADLINE,
        windowsHide: true,
      });
      child.on("error", () => resolve(NOTHING));
      child.stdin.on("error", () => {}); // it may end before it has read everything
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part: string) => {
        out += part;
      });
      child.on("close", (code) => resolve(code === 0 ? parsed(out) : NOTHING));
      child.stdin.end(input);
    } catch {
      resolve(NOTHING);
    }
  });
}

function parsed(out: string): Answer {
  if (!out.trim()) return NOTHING;
  try {
    const answer = JSON.parse(out);
    const own = answer.hookSpecificOutput ?? {};
    const reason = String(own.permissionDecisionReason ?? "");
    return {
      context: String(own.additionalContext ?? ""),
      deny: own.permissionDecision === "deny" ? reason : "",
      ask: own.permissionDecision === "ask" ? reason : "",
      retry: answer.decision === "block" ? String(answer.reason ?? "") : "",
    };
  } catch {
    return NOTHING;
  }
}
