//! What is sent to a provider that speaks Responses.

use expect_test::expect;
use haft_agent::wire::Format;
use serde_json::json;

use super::check;

#[test]
fn everything_can_be_said() {
    check(
        Format::Responses,
        json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}),
        expect![[r#"
            POST /v1/responses
            {
              "model": "m-1",
              "input": [
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "input_text",
                      "text": "look"
                    },
                    {
                      "type": "input_image",
                      "image_url": "data:image/png;base64,YWJj"
                    },
                    {
                      "type": "input_text",
                      "text": "[attachment left out: z.zip, application/zip cannot be sent to this model]"
                    }
                  ]
                },
                {
                  "type": "reasoning",
                  "summary": [],
                  "encrypted_content": "gAAA"
                },
                {
                  "role": "assistant",
                  "content": [
                    {
                      "type": "output_text",
                      "text": "I look."
                    }
                  ]
                },
                {
                  "type": "function_call",
                  "call_id": "a_1",
                  "name": "read",
                  "arguments": "{\"filePath\":\"x\"}"
                },
                {
                  "type": "function_call",
                  "call_id": "b",
                  "name": "read",
                  "arguments": "{\"input\":\"{oops\"}"
                },
                {
                  "type": "function_call_output",
                  "call_id": "a_1",
                  "output": [
                    {
                      "type": "input_text",
                      "text": "an image"
                    },
                    {
                      "type": "input_image",
                      "image_url": "data:image/png;base64,YWJj"
                    },
                    {
                      "type": "input_file",
                      "filename": "d.pdf",
                      "file_data": "data:application/pdf;base64,YWJj"
                    }
                  ]
                },
                {
                  "type": "function_call_output",
                  "call_id": "b",
                  "output": "no"
                },
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "input_text",
                      "text": "go on"
                    }
                  ]
                }
              ],
              "stream": true,
              "store": false,
              "include": [
                "reasoning.encrypted_content"
              ],
              "instructions": "Be brief.",
              "tools": [
                {
                  "type": "function",
                  "name": "read",
                  "description": "Reads.",
                  "parameters": {
                    "type": "object",
                    "properties": {
                      "filePath": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "filePath"
                    ],
                    "additionalProperties": false
                  },
                  "strict": false
                }
              ],
              "temperature": 0.5,
              "max_output_tokens": 99,
              "x_own": 1
            }"#]],
    );
}
