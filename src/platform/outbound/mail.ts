import { readFile } from 'node:fs/promises';
import type { MailServer } from '../../../config/alerts.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import { readSecret } from '../secret.ts';
import { bcp195 } from '../tls/profile.ts';

interface Mail {
  from: string;
  /** The recipients listed in the mail. */
  to: readonly string[];
  /** The recipients that the mail is sent to; by default, all of them. */
  sendTo?: readonly string[];
  subject: string;
  text: string;
  /**
   * Message-ID without angle brackets. It is the same each time the mail is sent, so that
   * duplicates are recognised.
   */
  messageId: string;
}

interface SentMail {
  accepted: readonly string[];
  /** Number of recipients refused permanently. */
  refused: number;
  /** Why other recipients were deferred, for example by greylisting; null if none were. */
  deferral: MailError | null;
}

/** The configured mail server (SMTP, RFC 5321). */
export interface Mailer {
  /**
   * Sends a mail.
   * @throws MailError if no recipient was accepted.
   */
  send(mail: Mail, signal: AbortSignal): Promise<SentMail>;
  /**
   * Signs in without sending anything.
   * @throws MailError
   */
  check(): Promise<void>;
}

export type MailErrorCode = Extract<ErrorCode, `mail_${string}`>;

export class MailError extends Error {
  override name = 'MailError';
  readonly code: MailErrorCode;

  constructor(code: MailErrorCode, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
  }
}

/**
 * Milliseconds that the server may take to accept a connection, to send its greeting, and to answer
 * a command.
 */
const PATIENCE_MS = { connectionTimeout: 20_000, greetingTimeout: 20_000, socketTimeout: 60_000 };

/**
 * Creates the mailer. The certificate and the password are read for each mail, so that new ones
 * take effect at once.
 */
export function createMailer(server: MailServer): Mailer {
  const open = async () => {
    // The library is loaded only if mail is sent.
    const { createTransport } = await import('nodemailer');
    const { host, port, tls, caFile, serverName, user, password } = server;
    const [ca, pass] = await Promise.all([
      caFile === undefined ? undefined : readFile(caFile),
      password && readSecret(password),
    ]).catch((error: unknown) => {
      throw new MailError('mail_files_unreadable', String(error), { cause: error });
    });
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: { ...bcp195('1.2'), ...(ca && { ca }), ...(serverName && { servername: serverName }) },
      ...(user && pass !== undefined && { auth: { user, pass } }),
      disableFileAccess: true,
      disableUrlAccess: true,
      ...PATIENCE_MS,
    });
  };
  return {
    async send({ from, to, sendTo = to, subject, text, messageId }, signal) {
      try {
        const transport = await open();
        const { accepted, rejectedErrors = [] } = await transport.sendMail({
          from,
          to: [...to],
          envelope: { from, to: [...sendTo] },
          subject,
          text,
          messageId: `<${messageId}>`,
          // Prevents automatic replies (RFC 3834 5), because no person would read them.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal,
        });
        const deferred = rejectedErrors.filter(isDeferral);
        return {
          accepted,
          refused: rejectedErrors.length - deferred.length,
          deferral: deferred.length === 0 ? null : mailError(deferred[0]),
        };
      } catch (error) {
        throw mailError(error);
      }
    },
    async check() {
      try {
        await (await open()).verify();
      } catch (error) {
        throw mailError(error);
      }
    },
  };
}

/** Failures that occur before the server can have received a message. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EDNS',
  'ETLS',
]);

const UNAUTHORIZED: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH']);

/** Returns true if the server may accept the recipient later: a 4xx reply. */
const isDeferral = (error: unknown): boolean => {
  const { responseCode } = membersOf(error);
  return responseCode !== null && responseCode < 500;
};

/**
 * Translates an error from the library. The server's text is shortened. It contains no patient
 * data.
 */
function mailError(error: unknown): MailError {
  if (error instanceof MailError) return error;
  const { code, responseCode, message } = membersOf(error);
  const detail = message.replaceAll(/\s+/g, ' ').slice(0, 200);
  const of = (meant: MailErrorCode) => new MailError(meant, detail, { cause: error });
  if (UNAUTHORIZED.has(code)) return of('mail_unauthorized');
  if (responseCode !== null) return of(responseCode >= 500 ? 'mail_refused' : 'mail_deferred');
  return of(NOT_CONNECTED.has(code) ? 'mail_server_unreachable' : 'mail_connection_lost');
}

function membersOf(error: unknown): { code: string; responseCode: number | null; message: string } {
  if (!(error instanceof Error)) return { code: '', responseCode: null, message: String(error) };
  const text = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // The library replaces the code of a failed connection with its own. The cause is only in the
  // text, as Node's `errno` name.
  const cause = /\b(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)\b/.exec(
    error.message,
  );
  const reply =
    'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : null;
  return { code: cause?.[1] ?? text, responseCode: reply, message: error.message };
}
