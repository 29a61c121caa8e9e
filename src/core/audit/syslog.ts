import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

/** PRI: facility 10 (security and authorization) × 8 + severity 5 (notice); RFC 5424 6.2.1. */
const PRIORITY = 85;

/** MSGID of every audit message (PS3.15 A.6). */
const MESSAGE_ID = 'DICOM+RFC3881';
const BYTE_ORDER_MARK = '\ufeff';

/** A UDP receiver need not accept longer messages (PS3.15 A.7). */
const MOST_UDP_BYTES = 32_768;

const TIMEOUT_MILLISECONDS = 15_000;

/** Returns a syslog message (RFC 5424) whose text is marked as UTF-8 (RFC 5424 6.4). */
export function syslogMessage(
  xml: string,
  { at, hostName, processId }: { at: Date; hostName: string; processId: number },
): Buffer {
  const host = hostName.replace(/[^\x21-\x7e]/g, '-').slice(0, 255) || '-';
  const header = `<${PRIORITY}>1 ${at.toISOString()} ${host} sonogate ${processId} ${MESSAGE_ID} -`;
  return Buffer.from(`${header} ${BYTE_ORDER_MARK}${xml}`);
}

interface SyslogSender {
  /** Sends messages in order. Rejects if the receiver is unreachable. */
  send(messages: readonly Buffer[]): Promise<void>;
  close(): void;
}

/**
 * Sends syslog over UDP (RFC 5426). The protocol has no acknowledgement, so a lost message is not
 * noticed.
 */
export function syslogOverUdp({ host, port }: { host: string; port: number }): SyslogSender {
  return {
    async send(messages) {
      const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
      try {
        for (const message of messages) {
          const bytes = message.subarray(0, MOST_UDP_BYTES);
          await new Promise<void>((resolve, reject) => {
            socket.send(bytes, port, host, (error) => (error ? reject(error) : resolve()));
          });
        }
      } finally {
        socket.close();
      }
    },
    close() {},
  };
}

/** Frames a message as `MSG-LEN SP SYSLOG-MSG` (RFC 5425 4.3). */
function framed(message: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/**
 * Sends syslog over TLS (RFC 5425), on one connection that stays open. The protocol has no
 * responses. If the connection is lost before the operating system has accepted all messages of a
 * call, `send` rejects and the caller sends them again, so a repository may receive a message
 * twice. Messages accepted but not yet transmitted when a connection is lost are missing at the
 * repository, and nobody notices.
 * @param options returns the TLS options. It is called for each new connection, so that a renewed
 * certificate is used.
 * @param timeoutMs maximum time without progress, for the connection with its TLS handshake and for
 * each write.
 */
export function syslogOverTls(
  { host, port }: { host: string; port: number },
  options: () => Promise<object>,
  timeoutMs = TIMEOUT_MILLISECONDS,
): SyslogSender {
  let open: TLSSocket | null = null;
  const opened = async (): Promise<TLSSocket> => {
    if (open && !open.destroyed && open.writable) return open;
    const socket = connect({ host, port, ...(await options()) });
    let isSecured = false;
    socket.setTimeout(timeoutMs, () => {
      if (!isSecured || socket.writableLength > 0) socket.destroy(new Error('no progress'));
    });
    await once(socket, 'secureConnect');
    isSecured = true;
    socket.on('error', () => socket.destroy());
    // A receiver sends no data. We read only to detect that it has closed the connection.
    socket.resume();
    open = socket;
    return socket;
  };
  return {
    async send(messages) {
      const socket = await opened();
      await new Promise<void>((resolve, reject) => {
        const gone = () => reject(new Error('the connection was lost'));
        socket.once('close', gone);
        socket.write(Buffer.concat(messages.map(framed)), (error) => {
          socket.off('close', gone);
          if (error) reject(error);
          else resolve();
        });
      });
    },
    close() {
      open?.end();
    },
  };
}
