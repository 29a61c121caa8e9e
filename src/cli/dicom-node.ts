/** A DICOM node as it is written on the command line. */
export interface DicomNode {
  aeTitle: string;
  host: string;
  port: number;
}

/** Calling AE title of commands that were given none. */
export const COMMAND_AE_TITLE = 'SONOGATE-CLI';

/** A person waits at the command: shorter than the gateway's own patience. */
export const COMMAND_TIMEOUT_SECONDS = 30;

/** Reads `AE@host:port`; an IPv6 address stands in brackets. @throws Error with the expected form. */
export function parseDicomNode(text: string): DicomNode {
  const match = /^([^@\\]{1,16})@(\[[0-9a-fA-F:]+\]|[^:@[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match?.[1] || !match[2] || port < 1 || port > 65535) {
    throw new Error(`"${text}" is not a DICOM node; write it as AE@host:port`);
  }
  return { aeTitle: match[1], host: match[2].replace(/^\[|\]$/g, ''), port };
}
