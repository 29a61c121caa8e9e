/** Introduction to the API description; further guides are in `/docs`. */
export const INTRODUCTION = `Sonogate reads an ultrasound study and returns a structured draft result. Interpretation is
asynchronous: upload files, submit them, follow the request, and fetch the result. Bodies are JSON, times are RFC 3339 in UTC,
and unknown fields are refused. Every result is a draft until a clinician signs it.

Authenticate with \`Authorization: Bearer sg_live_…\`. A key belongs to an account and has scopes: \`run\`, \`read\`, \`uploads\`,
\`store\` and \`retrieve\` (DICOMweb), \`review\` (change a draft), \`sign\` (sign a result in the name of the key) and
\`admin\`, which includes every other scope except \`sign\`. With a test key (\`sg_test_…\`) every request returns a
made-up result that is marked MOCK and is free of charge.`;

/** The groups of calls, in the order in which a client needs them. */
export const GROUPS = [
  {
    name: 'Requests',
    description: 'Submit studies, follow their progress, and fetch the results.',
  },
  { name: 'Uploads', description: 'Upload files; large ones in parts.' },
  { name: 'Models', description: 'Available endpoints, their prices, and this description.' },
  {
    name: 'Webhooks',
    description: 'Receive a call when a request ends or a critical flag is raised.',
  },
  { name: 'Account', description: 'Keys and usage of the account.' },
  {
    name: 'DICOMweb',
    description: `Store studies by STOW-RS. Search and retrieval (QIDO-RS and WADO-RS) are also available below
\`/dicomweb\` if the site has enabled them (\`queryRetrieve.dicomweb\`), for keys with the scope \`retrieve\`. They are not listed here, because DICOM PS3.18 defines them, with any attribute as a parameter and with DICOM objects as responses, and every DICOMweb client supports them. The gateway's documentation lists what is supported (docs/dicomweb.md). The same applies to requests as Unified Procedure Steps (UPS-RS, \`http.workitems\`, docs/ups.md) and as FHIR Tasks (\`/fhir\`, described by the CapabilityStatement at \`/fhir/metadata\`, docs/fhir.md).`,
  },
  {
    name: 'Compatible queue',
    description: 'The same requests, for programs that use the fal.ai client.',
  },
] as const;
