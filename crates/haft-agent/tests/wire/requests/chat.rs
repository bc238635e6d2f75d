//! What is sent to a provider that speaks chat completions.

use expect_test::expect;
use haft_agent::wire::Format;
use serde_json::json;

use super::check;

#[test]
fn everything_can_be_said() {
    check(
        Format::Chat,
        json!({"field": "reasoning_content"}),
        expect![[r#"
            POST /v1/chat/completions
            {
              "model": "m-1",
              "messages": [
                {
                  "role": "system",
                  "content": "Be brief."
                },
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "text",
                      "text": "look"
                    },
                    {
                      "type": "image_url",
                      "image_url": {
                        "url": "data:image/png;base64,YWJj"
                      }
                    },
                    {
                      "type": "text",
                      "text": "[attachment left out: z.zip, application/zip cannot be sent to this model]"
                    }
                  ]
                },
                {
                  "role": "assistant",
                  "content": "I look.",
                  "reasoning_content": "hm",
                  "tool_calls": [
                    {
                      "id": "a_1",
                      "type": "function",
                      "function": {
                        "name": "read",
                        "arguments": "{\"filePath\":\"x\"}"
                      }
                    },
                    {
                      "id": "b",
                      "type": "function",
                      "function": {
                        "name": "read",
                        "arguments": "{\"input\":\"{oops\"}"
                      }
                    }
                  ]
                },
                {
                  "role": "tool",
                  "tool_call_id": "a_1",
                  "content": "an image"
                },
                {
                  "role": "tool",
                  "tool_call_id": "b",
                  "content": "no"
                },
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "text",
                      "text": "Attached media from tool result:"
                    },
                    {
                      "type": "image_url",
                      "image_url": {
                        "url": "data:image/png;base64,YWJj"
                      }
                    },
                    {
                      "type": "text",
                      "text": "[attachment left out: d.pdf, application/pdf cannot be sent to this model]"
                    }
                  ]
                },
                {
                  "role": "user",
                  "content": "go on"
                }
              ],
              "stream": true,
              "stream_options": {
                "include_usage": true
              },
              "tools": [
                {
                  "type": "function",
                  "function": {
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
                    }
                  }
                }
              ],
              "temperature": 0.5,
              "max_tokens": 99,
              "x_own": 1
            }"#]],
    );
}
