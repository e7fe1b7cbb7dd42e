"""What a request to the model held."""

import json


def tools(request):
    return [tool["function"]["name"] for tool in request.get("tools", [])]


def system(request):
    return request["messages"][0]["content"]


def said_by(role, request):
    return [one["content"] for one in request["messages"] if one["role"] == role]


def is_longer(later, earlier):
    """Say whether a request begins with all of an earlier one: model, tools and messages."""
    count = len(earlier["messages"])
    same = all(later.get(key) == earlier.get(key) for key in ("model", "tools"))
    return same and json.dumps(later["messages"][:count]) == json.dumps(earlier["messages"])
