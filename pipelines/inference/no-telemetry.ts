/**
 * From 1.29 on ONNX Runtime reports to its maker over the network what runs it and which models it
 * opens, and keeps a number of the machine in the home folder (microsoft/onnxruntime#27379). Nothing
 * leaves a hospital unasked. The library looks at the variable once, when it is loaded, and a thread
 * has only a copy of the variables: this file is loaded before the library and before such a thread.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
